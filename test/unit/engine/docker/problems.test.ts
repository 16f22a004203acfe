import assert from 'node:assert/strict';
import { uptime } from 'node:os';
import { Cancelled, HumanError } from '../../../../src/domain/work';
import { isAbandoned } from '../../../../src/engine/docker/sandbox/abandonedContainers';
import { negotiated } from '../../../../src/engine/docker/connection/connect';
import { containerLabels, imageLabels, labels } from '../../../../src/engine/docker/labels';
import {
  EngineDiskFull,
  EngineGone,
  engineProblem,
  lineOfProblem,
} from '../../../../src/engine/docker/connection/engineProblem';

describe('what a failed call of the engine means', () => {
  const at = { address: 'unix:///x.sock' };
  const problem = (error: unknown): Error => engineProblem(error, at, 'starting a sandbox');
  const answer = (statusCode: number, message: string): Error =>
    Object.assign(new Error(`(HTTP code ${statusCode}) unexpected - ${message} `), {
      statusCode,
      json: { message },
    });

  it('is left alone when it is said already', () => {
    const human = new HumanError('a', 'b');
    assert.equal(problem(human), human);
    const cancelled = new Cancelled();
    assert.equal(problem(cancelled), cancelled);
    assert.ok(problem(new DOMException('stop', 'AbortError')) instanceof Cancelled);
  });

  it('is an engine that has gone', () => {
    for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE']) {
      const error = problem(Object.assign(new Error(`connect ${code} /x.sock`), { code }));
      assert.ok(error instanceof EngineGone, code);
      assert.match(error.what, /^Lost the Docker engine at unix:\/\/\/x\.sock, while starting a/);
      assert.match(error.next ?? '', /Start it and try again$/);
    }
    assert.ok(problem(new Error('socket hang up')) instanceof EngineGone);
  });

  it('is a full disk, even as an answer', () => {
    const error = problem(answer(500, 'write /var/lib/docker: no space left on device'));
    assert.ok(error instanceof EngineDiskFull);
  });

  it('is an answer, with its words on one line', () => {
    const long = `No such container: x\n\tat trace ${'y'.repeat(1000)}`;
    const cases: [number, RegExp][] = [
      [404, /^Not found by the Docker engine at .*: No such container: x at trace y+…$/],
      [409, /^A conflict in/],
      [403, /^Refused by/],
      [500, /^Failed in/],
      [400, /^Not accepted by/],
    ];
    for (const [status, what] of cases) {
      const error = problem(answer(status, long)) as HumanError;
      assert.ok(error instanceof HumanError);
      assert.match(error.what, what);
      assert.ok(error.what.length < 450);
      assert.ok(error.next);
    }
    const denied = problem(Object.assign(new Error('connect EACCES'), { code: 'EACCES' }));
    assert.match(denied.message, /usermod -aG docker/);
    assert.match(problem('thrown').message, /: thrown\. /);
    assert.match(problem(undefined).message, /^Failed with the Docker engine/);
  });

  it('shows nothing that a terminal or an eye could be led astray by', () => {
    assert.equal(lineOfProblem('a\u001b[31mred\u001b[0m\r\n\u0000b\u202e\u2066c..'), 'ared b c');
  });
});

describe('the version of the API', () => {
  const with_ = (ApiVersion: string, MinAPIVersion?: string): string =>
    negotiated({ Version: '1', ApiVersion, MinAPIVersion });

  it('is what both know', () => {
    assert.equal(with_('1.40'), '1.40');
    assert.equal(with_('1.41', '1.12'), '1.41');
    assert.equal(with_('1.52', '1.24'), '1.43');
    assert.equal(with_('1.60', '1.44'), '1.44');
    assert.equal(with_('2.0', '1.24'), '1.43');
    assert.throws(() => with_('1.39'), /too old: version 1 with API 1\.39/);
    assert.throws(() => with_('1.9'), HumanError);
  });
});

describe('labels', () => {
  it('tell containers of ours from images and from what others started', async () => {
    const own = await containerLabels('pair', { instance: 'a__b-1', side: 'base' });
    assert.equal(own[labels.made], '1');
    assert.equal(own[labels.instance], 'a__b-1');
    assert.ok(!(labels.repo in own));
    assert.equal(imageLabels('instance')[labels.owner], '');
    const now = 10 * 24 * 3600;
    const ask = (Labels: Record<string, string> | null, age = 0): Promise<boolean> =>
      isAbandoned({ Id: 'x', Created: now - age, Labels }, now);
    const elsewhere = { ...own, [labels.owner]: '1-0123456789ab-1' };
    const gone = { ...own, [labels.owner]: own[labels.owner]!.replace(/-\d*$/, '-1') };
    assert.equal(await ask(own), false);
    assert.equal(await ask(own, 60), false);
    // No process is older than the machine's start.
    assert.equal(await ask(own, uptime() + 3600), true);
    assert.equal(await ask(gone), process.platform === 'linux');
    assert.equal(await ask(elsewhere, 3600), false);
    assert.equal(await ask(elsewhere, 25 * 3600), true);
    for (const foreign of [
      null,
      {},
      { ...gone, [labels.made]: '0' },
      { ...elsewhere, [labels.kind]: 'instance' },
      { ...elsewhere, [labels.owner]: '' },
    ]) {
      assert.equal(await ask(foreign, 25 * 3600), false);
    }
  });
});
