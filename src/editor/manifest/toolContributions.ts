import { inputSchema, instructions, tools, type Tool } from '../../method/tools';
import { idOfTool } from '../shell/names';

const icons: Readonly<Record<string, string>> = {
  read_issue: 'issues',
  list_files: 'list-tree',
  search_code: 'search',
  outline_file: 'symbol-class',
  read_file: 'file-code',
  apply_candidate: 'edit',
  list_candidate_tests: 'beaker',
  run_tests: 'play',
  check_candidate: 'checklist',
};

/**
 * Sentences that are true only where the candidate is the edits of a workspace, not in a server.
 */
const inEditor: Readonly<Record<string, string>> = {
  read_issue: instructions.replaceAll('\n', ' '),
  read_file:
    'For files with the edits of the workspace, read those of the workspace: this is the repository without them.',
  apply_candidate:
    'The candidate is what is edited in the workspace: these edits are taken back, and the patch is put in their place as one edit that can be undone.',
  list_candidate_tests: 'The candidate is what is edited in the workspace, saved or not.',
  run_tests: 'The candidate is what is edited in the workspace, saved or not.',
  check_candidate: 'The candidate is what is edited in the workspace, saved or not.',
};

function contribution(tool: Tool): object {
  const { $schema: _, ...schema } = inputSchema(tool);
  return {
    name: idOfTool(tool.name),
    toolReferenceName: `swt_${tool.name}`,
    canBeReferencedInPrompt: true,
    displayName: `%tool.${tool.name}%`,
    userDescription: `%tool.${tool.name}.description%`,
    modelDescription: [
      'About the SWT-Bench instance that is open in this window.',
      tool.description,
      ...(tool.name in inEditor ? [inEditor[tool.name]] : []),
    ].join(' '),
    icon: `$(${icons[tool.name]})`,
    tags: ['swt-bench'],
    when: 'swt-bench.instanceOpen',
    inputSchema: schema,
  };
}

/** The tools of the product as language model tools of VS Code. */
export const toolContributions = (): object[] => tools.map(contribution);
