import { commands } from '../../../src/commands/commands';
import { assertDocTable } from './docTable';

describe('the page on the command line', () => {
  it('has all commands, in their order (UPDATE_DOCS=1 writes them)', () => {
    assertDocTable({
      page: 'command-line.md',
      head: ['command', 'does'],
      rows: commands.map(({ name, description }) => [
        `\`${name}\``,
        description.replaceAll('*', String.raw`\*`),
      ]),
    });
  });
});
