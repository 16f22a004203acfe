import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../../package.json';
import { continueRule } from '../../../src/method/toolCalls/toolPrompts';

describe('the custom agent', () => {
  const [agent, ...others] = manifest.contributes.chatAgents;
  const text = readFileSync(join(process.cwd(), agent?.path ?? ''), 'utf8');
  const names = manifest.contributes.languageModelTools.map((tool) => tool.toolReferenceName);

  it('is offered while an instance is open', () => {
    assert.deepEqual(others, []);
    assert.equal(agent?.when, 'swt-bench.instanceOpen');
    // Versions that read the name from here take only such ones.
    assert.match(agent.name, /^[\w.-]+$/);
  });

  it('may use our tools, all of them and no others', () => {
    const [, list = ''] = /^tools:\n((?: {2}- \w+\n)+)/m.exec(text) ?? [];
    assert.deepEqual(
      [...list.matchAll(/- (\w+)/g)].map(([, name]) => name),
      names,
    );
    const mentioned = [...text.matchAll(/#tool:(\w+)/g)].map(([, name]) => name ?? '');
    assert.ok(mentioned.length >= 7);
    for (const name of mentioned) assert.ok(names.includes(name), name);
  });

  it('says the same as the prompt of the loop, and tells nothing of R∘X*', () => {
    for (const words of [
      'two or three sentences that explain what the tests check and why they fail now',
    ]) {
      assert.ok(continueRule.includes(words) && text.includes(words));
    }
    assert.doesNotMatch(text, /R∘X|golden|FAIL_TO_PASS|T\*/);
  });
});
