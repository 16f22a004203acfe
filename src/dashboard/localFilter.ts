import { matches, parseQuery, type QueryCondition } from '../dataset/query';
import { messageOf } from '../domain/work';
import type { InstanceFacts } from '../study/entry';

/** A predicate on instances, or why the text is not a valid filter on this page. */
type Filter = { readonly keeps: (facts: InstanceFacts) => boolean } | { readonly problem: string };

/**
 * The filter language of the Instances view, for a page without a host. It uses only what runs
 * store about an instance: it looks for words in the id and the repository. It refuses a filter on
 * anything else, such as the files that X* changes. With a host, the Instances view evaluates the
 * filter.
 */
export function localFilter(text: string): Filter {
  try {
    const query = parseQuery(text);
    const unknown = query.groups.flatMap(({ any }) => any).find((each) => !isKnown(each));
    if (unknown !== undefined) {
      return {
        problem:
          'This page can filter by ID, repository, date and issue length: use words, repo:, created:, ' +
          'after:, before: and issue:',
      };
    }
    return {
      keeps: (facts) =>
        matches(query, {
          entry: {
            id: facts.id,
            repo: facts.repo,
            version: '',
            baseCommit: '',
            createdAt: facts.created,
            issue: ' '.repeat(facts.issueLength),
            patch: { files: [], lines: 0 },
            tests: { files: [], lines: 0 },
          },
          status: { kind: 'not opened' },
        }),
    };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

const known: ReadonlySet<QueryCondition['kind']> = new Set(['text', 'repo', 'created']);

const isKnown = (condition: QueryCondition): boolean =>
  condition.kind === 'count' ? condition.of === 'issue' : known.has(condition.kind);
