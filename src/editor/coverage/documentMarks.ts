import type { ChangeCoverage, CoveredLine, LineState } from '../../domain/changeCoverage';
import type { Side } from '../../domain/outcome';
import { changeBlocks, type ChangeBlock } from '../../patch/changedLines';
import type { FilePatch } from '../../patch/parsedPatch';
import { marksOfFixed, marksOfR, marksOfWorkspace, type CoverageMarks } from './coverageMarks';
import { linesBySide } from './shownCoverage';

/** A document in which changed lines are marked. */
export type MarkedDocument =
  /** A side of the golden diff. */
  | { readonly side: Side; readonly path: string }
  /**
   * A file of the workspace, which is R and may be edited. `map` gives the current line of each
   * line of R.
   */
  | { readonly workspacePath: string; readonly map: ReadonlyMap<number, number> };

/**
 * The marks of each state: the name of the icon, and a colour of the theme for the overview ruler.
 */
export const gutterLook: Readonly<
  Record<LineState, { readonly icon: string; readonly ruler: string | undefined }>
> = {
  'newly covered': { icon: 'newly-covered', ruler: 'swtBench.newlyCovered' },
  'already covered': { icon: 'already-covered', ruler: 'swtBench.alreadyCovered' },
  missed: { icon: 'missed', ruler: 'swtBench.missed' },
  // The ruler leaves these lines out, since there is nothing to find.
  'not executable': { icon: 'not-executable', ruler: undefined },
};

/** How VS Code lays out diffs, as far as settings tell. */
interface DiffLayout {
  /** `diffEditor.renderSideBySide` */
  readonly isSideBySide: boolean;
  /** `diffEditor.useInlineViewWhenSpaceIsLimited` */
  readonly mayBeInline: boolean;
  /** Whether it shares the width of the window with another group of editors. */
  readonly sharesWidth: boolean;
}

/**
 * Whether a diff has the gutter of R on its left. Extensions are not told when a narrow diff becomes
 * inline, which leaves no gutter of R: a diff beside another group of editors is taken as narrow.
 *
 * @param isShownBeside whether R's version of the file is in an editor too, as in a diff
 */
export const hasGutterOfR = (
  isShownBeside: boolean,
  { isSideBySide, mayBeInline, sharesWidth }: DiffLayout,
): boolean => isShownBeside && isSideBySide && !(mayBeInline && sharesWidth);

/**
 * The marks of a document.
 *
 * @param files of the golden patch; undefined before they are read
 * @param gutterOfR whether the gutter of R shows the removed lines, so that R∘X* has no notes on them
 */
export function documentMarks(
  document: MarkedDocument,
  coverage: ChangeCoverage,
  files: readonly FilePatch[] | undefined,
  gutterOfR = false,
): CoverageMarks {
  const { base, fixed } = linesBySide(coverage);
  if ('workspacePath' in document) {
    const { workspacePath: path, map } = document;
    const { newPath, blocks } = changed(files?.find(({ oldPath }) => oldPath === path));
    return marksOfWorkspace(
      base.get(path) ?? [],
      (newPath === null ? undefined : fixed.get(newPath)) ?? [],
      blocks,
      (line) => map.get(line),
    );
  }
  const { side, path } = document;
  if (side === 'base') return marksOfR(base.get(path) ?? []);
  const { oldPath, blocks } = changed(files?.find(({ newPath }) => newPath === path));
  return marksOfFixed(
    fixed.get(path) ?? [],
    (gutterOfR || oldPath === null ? undefined : base.get(oldPath)) ?? [],
    blocks,
  );
}

const changed = (
  file: FilePatch | undefined,
): {
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly blocks: readonly ChangeBlock[];
} =>
  file === undefined
    ? { oldPath: null, newPath: null, blocks: [] }
    : { oldPath: file.oldPath, newPath: file.newPath, blocks: changeBlocks(file) };

/** A line of R or R∘X*. */
export interface PlaceOnSide {
  readonly side: Side;
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

/**
 * Place of a document's line on the side that the document shows; undefined when R has no such
 * line.
 */
export function placeOnSide(document: MarkedDocument, line: number): PlaceOnSide | undefined {
  if (!('workspacePath' in document)) return { ...document, line };
  for (const [ofR, now] of document.map) {
    if (now === line) return { side: 'base', path: document.workspacePath, line: ofR };
  }
  return undefined;
}

/** The changed line at a place; undefined where the golden patch changes nothing. */
export function coveredLineAt(
  coverage: ChangeCoverage,
  { side, path, line }: PlaceOnSide,
): CoveredLine | undefined {
  const lines = linesBySide(coverage)[side].get(path);
  return lines?.find((each) => each.line === line);
}
