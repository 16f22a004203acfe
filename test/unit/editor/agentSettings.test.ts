import assert from 'node:assert/strict';
import texts from '../../../package.nls.json';
import { readAgentSettings, withAgentsOfFile } from '../../../src/editor/generate/agentSettings';
import {
  methodOfRecord,
  readGenerationRecords,
  recordedAgent,
  recordId,
} from '../../../src/editor/generate/records';
import { acpAgent, acpNamed } from '../../../src/method/acp/acpMethod';
import { acpPresets } from '../../../src/method/acp/acpPresets';
import { placeholders } from '../../../src/method/acp/agentEnvironment';

const withProgram = (name: string, more: object = {}): unknown => ({
  [name]: { program: '/opt/agent', ...more },
});
const use = { program: undefined, advice: '' };

describe('agents of the Agent Client Protocol in the editor', () => {
  it('name in the setting every placeholder of their variables', () => {
    const { 'setting.generate.agents.env': env } = texts;
    for (const name of Object.keys(placeholders)) assert.ok(env.includes(`{${name}}`), name);
  });

  it('have from the configuration file what their entries lack', () => {
    const agents = {
      gemini: { program: '/opt/gemini', timeout: 60 },
      'mini-of-mine': { program: '', command: 'mine --acp' },
      codex: { program: '/opt/codex' },
    };
    const set = { gemini: { timeout: 90 }, codex: null };
    const read = readAgentSettings(withAgentsOfFile(set, { agents }));
    assert.deepEqual(
      read.agents.map(({ name, program, seconds }) => [name, program, seconds]),
      [
        ['acp:gemini', '/opt/gemini', 90],
        ['acp:mini-of-mine', undefined, 3600],
      ],
    );
    assert.ok(!read.withoutProgram.includes('Codex'));
    assert.equal(withAgentsOfFile('no object', { agents }), 'no object');
  });

  it('are offered once their program is named, and are those of the command line', () => {
    const { agents, withoutProgram, problems } = readAgentSettings(undefined);
    assert.deepEqual([agents, problems], [[], []]);
    assert.deepEqual(
      withoutProgram,
      acpPresets.map(({ title }) => title),
    );
    for (const preset of acpPresets) {
      const [read, ...others] = readAgentSettings(withProgram(preset.name)).agents;
      assert.ok(read);
      assert.equal(others.length, 0);
      assert.equal(read.program, '/opt/agent');
      const { argv, env, providers: asked, authMethod, files } = read;
      assert.deepEqual(
        { argv, env, asked, authMethod, files },
        {
          argv: preset.argv,
          env: preset.env,
          asked: preset.providers,
          authMethod: preset.authMethod,
          files: preset.files,
        },
      );
      // The same session counts for both, and no other.
      assert.equal(acpAgent(read.name, read, use).definition, undefined, preset.name);
      const changed = readAgentSettings(withProgram(preset.name, { env: { A: 'b' } })).agents[0]!;
      assert.notEqual(acpAgent(read.name, changed, use).definition, undefined, preset.name);
    }
    assert.equal(acpAgent('acp:a b', acpNamed('acp:a b'), use).definition, undefined);
    assert.equal(readAgentSettings(withProgram('codex', { program: '' })).agents.length, 1);
    assert.ok(!readAgentSettings({ codex: null }).withoutProgram.includes('Codex'));
  });

  it('that are faulty are named, and leave the others alone', () => {
    const faults: Readonly<Record<string, readonly [entry: unknown, fault: RegExp]>> = {
      'not a name': [{ command: 'a' }, /^not a name: its name has other than letters/],
      nothing: [7, /^nothing: : /],
      none: [{}, /^none: command/],
      key: [{ command: 'a', apiKey: 'k' }, /^key: apiKey is not known/],
      open: [{ command: "a 'b", program: '' }, /^open: .*has no command/],
      relative: [{ command: 'a', program: 'b' }, /^relative: program is no absolute path/],
      provider: [{ command: 'a', providers: ['other'] }, /^provider: providers\.0/],
      variable: [{ command: 'a', env: { 'A;rm': 'b' } }, /^variable: env\./],
      file: [{ command: 'a', files: { '../b': 'c' } }, /^file: files\./],
      time: [{ command: 'a', timeout: 0 }, /^time: timeout/],
    };
    for (const [name, [entry, fault]] of Object.entries(faults)) {
      const mine = { command: 'mine --acp', program: '' };
      const { agents, problems } = readAgentSettings({ [name]: entry, mine });
      assert.equal(problems.length, 1, name);
      assert.match(problems[0] ?? '', fault);
      assert.deepEqual(
        agents.map(({ title, argv }) => [title, argv]),
        [['mine', ['mine', '--acp']]],
      );
    }
    for (const value of ['text', [1]]) {
      assert.deepEqual(readAgentSettings(value).problems, ['it is no object']);
    }
    assert.deepEqual(readAgentSettings(undefined).problems, []);
  });

  it('are read back from the record of a run, which a new version of the program changes', async () => {
    const [codex] = readAgentSettings(withProgram('codex', { timeout: 60, program: '' })).agents;
    const agent = { ...acpAgent('acp:codex', codex!, use), seconds: 60 };
    const record = async (programDigest: string) => ({
      ...{ method: 'acp:codex', model: 'openai/m', samples: 1, contextTokens: 1, engine: 'docker' },
      ...{ maxOutputTokens: 1, timeoutSeconds: 1, startedAt: '2026-01-01T00:00:00Z' },
      agent: await recordedAgent(
        { ...agent, programDigest: () => Promise.resolve(programDigest) },
        undefined,
      ),
    });
    const [old, other] = readGenerationRecords([await record('a'), await record('b')]);
    assert.ok(old && other);
    assert.notEqual(recordId(old), recordId(other));
    const method = methodOfRecord(old);
    assert.equal(method.title, 'Codex');
    const read = method.asksItself?.agent;
    assert.equal(await read?.programDigest(undefined), 'a');
    assert.equal(read?.seconds, 60);
    assert.deepEqual(readGenerationRecords([{ ...old, method: 'unknown' }]), []);
  });
});
