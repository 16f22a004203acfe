import assert from 'node:assert/strict';
import manifest from '../../../package.json';
import { chatCommands, chatParticipantId } from '../../../src/editor/shell/names';

describe('the chat participant', () => {
  it('has in package.json the id and the commands that the code knows', () => {
    const [participant, ...others] = manifest.contributes.chatParticipants;
    assert.deepEqual(others, []);
    assert.equal(participant?.id, chatParticipantId);
    assert.deepEqual(
      participant.commands.map(({ name }) => name),
      chatCommands,
    );
  });

  it('tells what each is for, for people and for whoever routes requests', () => {
    for (const each of manifest.contributes.chatParticipants) {
      for (const { description, sampleRequest, disambiguation } of [each, ...each.commands]) {
        assert.match(description, /^%chat\./);
        assert.match(sampleRequest, /^%chat\./);
        assert.ok(disambiguation.every(({ examples }) => examples.length >= 3));
      }
      const categories = [each, ...each.commands].flatMap(({ disambiguation }) =>
        disambiguation.map(({ category }) => category),
      );
      assert.equal(new Set(categories).size, chatCommands.length + 1);
    }
  });
});
