import { fork } from 'node:child_process';
import { asciiJson, openAgentProtocol } from '../../src/engine/sandbox/agentProtocol';
import { Agent } from '../../src/engine/sandbox/agent';
import { attachInPod } from '../../src/engine/kubernetes/podStream';
import {
  channelMessage,
  clusterAt,
  servePodStreams,
} from '../unit/engine/kubernetes/podStreamServer';

/**
 * Memory and processor time of a coordinator with the streams of many pairs open: `npm run bench --
 * streams [PAIRS] [GRADES]`. The API server and the agents are simulated in a process of their own.
 * For each grade, both sides load a patch, run with a log of 64 KiB, and answer with 1 MiB of
 * records.
 */
const [, , , pairsWord = '200', gradesWord = '5'] = process.argv;
const [pairs, grades] = [Number(pairsWord), Number(gradesWord)];
const logBytes = 64 << 10;
const recordBytes = 1 << 20;
const patch = Buffer.alloc(8 << 10, 'x');

/** Answers every request of the agent's protocol, and sends a sign of life every 10 s. */
async function simulate(): Promise<void> {
  const frame = (header: object, payload = Buffer.alloc(0)): Buffer => {
    const line = `${asciiJson({ ...header, bytes: payload.length })}\n`;
    return channelMessage(1, Buffer.concat([Buffer.from(line), payload]));
  };
  const { address } = await servePodStreams((peer) => {
    setInterval(() => peer.send(frame({ kind: 'beat' })), 10_000);
    peer.on('message', (data) => {
      const text = data.toString('latin1', 1);
      if (text.startsWith('{"kind":"load"')) peer.send(frame({ kind: 'done' }));
      if (!text.startsWith('{"kind":"run"')) return;
      peer.send(frame({ kind: 'output' }, Buffer.alloc(logBytes, '.')));
      peer.send(frame({ kind: 'done', ending: 'ended' }, Buffer.alloc(recordBytes, '1')));
      peer.send(frame({ kind: 'settled', altered: [] }));
    });
  });
  process.send?.(address);
}

async function measure(): Promise<void> {
  const child = fork(__filename, ['simulate', 'simulate'], { execArgv: ['--import', 'tsx'] });
  const where = await new Promise<string>((resolve) => {
    child.once('message', (said) => typeof said === 'string' && resolve(said));
  });
  const cluster = clusterAt(where);
  let peak = process.memoryUsage.rss();
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50);
  const before = { rss: process.memoryUsage.rss(), cpu: process.cpuUsage() };
  const began = performance.now();
  const open = async (side: 'base' | 'fixed', number: number): Promise<Agent> => {
    const program = await attachInPod(cluster, `pod-${number}`, ['agent'], { silence: 23_000 });
    const wire = openAgentProtocol(program, true);
    return new Agent({ side, wire, address: where, kill: () => undefined });
  };
  const agents = await Promise.all(
    Array.from({ length: pairs }, async (_, number) => [
      await open('base', number),
      await open('fixed', number),
    ]),
  );
  const opened = { rss: process.memoryUsage.rss(), cpu: process.cpuUsage(before.cpu) };
  const openSeconds = (performance.now() - began) / 1000;
  const start = { cpu: process.cpuUsage(), at: performance.now() };
  await Promise.all(
    agents.flat().map(async (agent) => {
      for (let grade = 0; grade < grades; grade += 1) {
        await agent.ask({ kind: 'load' }, patch);
        await agent.untilDone({ kind: 'run' }, { onOutput: () => undefined });
        await agent.settled();
      }
    }),
  );
  const used = process.cpuUsage(start.cpu);
  const seconds = (performance.now() - start.at) / 1000;
  const idle = { cpu: process.cpuUsage(), at: performance.now() };
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  const resting = process.cpuUsage(idle.cpu);
  clearInterval(watching);
  const processor = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;
  const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
  const rows: Readonly<Record<string, number | string>> = {
    pairs,
    streams: 2 * pairs,
    'MiB before': mib(before.rss),
    'MiB with all streams open': mib(opened.rss),
    'MiB at most': mib(peak),
    'seconds to open all': openSeconds.toFixed(2),
    'processor seconds to open all': processor(opened.cpu).toFixed(2),
    'grades of a pair': pairs * grades,
    'seconds of the grades': seconds.toFixed(2),
    'processor milliseconds a grade': ((1000 * processor(used)) / (pairs * grades)).toFixed(2),
    'share of a processor when all are idle': (
      processor(resting) /
      ((performance.now() - idle.at) / 1000)
    ).toFixed(4),
  };
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(42)} ${value}`);
  for (const agent of agents.flat()) agent.close('the measurement is over');
  child.kill();
}

void (process.argv[2] === 'simulate' ? simulate() : measure());
