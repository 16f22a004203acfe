import { matches, parseQuery } from '../dataset/query/query';
import type { QueryCondition } from '../dataset/query/queryConditions';
import { messageOf } from '../domain/humanError';
import type { InstanceFacts } from '../domain/study/entry';

/** What is kept of an instance, or why the text is no filter for this page. */
export type Filter =
  { readonly keeps: (facts: InstanceFacts) => boolean } | { readonly problem: string };

/**
 * The filter language of the Instances view, for a page by itself. It knows only what runs keep of an
 * instance: words are looked for in the id and the repository, and a filter that asks for more, such as
 * the files that X* changes, is refused. With a host, the Instances view answers.
 */
export function localFilter(text: string): Filter {
  try {
    const query = parseQuery(text);
    const unknown = query.groups.flatMap(({ any }) => any).find((each) => !isKnown(each));
    if (unknown !== undefined) {
      return {
        problem:
          'This page knows ids, repositories, dates and lengths of issues: ' +
          'use words, repo:, created:, after:, before: and issue:',
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
