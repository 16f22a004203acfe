import type { InstanceFacts } from '../../study/entry';
import { columnCell, findingSymbol } from './cellState';
import type { Column } from './columns';
import { element } from './elements';

/** Sizes in CSS pixels, equal to those in the style sheet. */
const rowHeight = 24;
const idWidth = 260;
const narrowestColumn = 132;
const widestColumn = 280;
/** Rows drawn beyond the visible ones, so that scrolling shows no blank rows. */
const beyond = 8;

/**
 * The cell with the keyboard focus: a row of the instances, and a column, where 0 is the instance
 * itself.
 */
interface Position {
  readonly row: number;
  readonly column: number;
}

/**
 * The matrix of instances × candidates. Only visible rows are in the document; `aria-rowcount`
 * gives screen readers the full number. One cell is in the tab order, and the arrow keys move it.
 */
export class Matrix {
  readonly root: HTMLElement;
  private readonly head = element('div', {
    role: 'row',
    class: 'matrix-head',
    'aria-rowindex': '1',
  });
  private readonly body = element('div', { role: 'rowgroup', class: 'matrix-body' });
  private readonly rows = new Map<number, HTMLElement>();
  private instances: readonly InstanceFacts[] = [];
  private columns: readonly Column[] = [];
  private at: Position = { row: 0, column: 0 };
  private waiting = false;
  private columnWidth = narrowestColumn;
  private isFollowing = false;
  /** Whether all rows are in the document, and not only the visible ones. */
  private isPrinting = false;

  /**
   * @param onChosen called for a click on a cell, or Enter; without a column for the instance
   *   itself
   */
  constructor(
    private readonly onChosen: (instance: InstanceFacts, column: Column | undefined) => void,
    describedBy: string,
  ) {
    this.root = element(
      'div',
      {
        role: 'grid',
        class: 'matrix',
        'aria-label': 'Instances by run',
        'aria-readonly': 'true',
        'aria-describedby': describedBy,
      },
      element('div', { role: 'rowgroup', class: 'matrix-top' }, this.head),
      this.body,
    );
    this.root.addEventListener('scroll', () => this.drawSoon());
    this.root.addEventListener('keydown', (event) => this.onKey(event));
    this.root.addEventListener('click', (event) => {
      const position = this.positionOf(event.target);
      if (position === undefined) return;
      this.moveTo(position);
      this.choose();
    });
    this.root.addEventListener('focusin', (event) => {
      const position = this.positionOf(event.target);
      if (position !== undefined) this.mark(position);
    });
    new ResizeObserver(() => {
      this.fitColumns();
      // Details that open beside or below must not hide the cell that they are about.
      if (this.isFollowing) this.scrollTo(this.at);
      this.drawSoon();
    }).observe(this.root);
    // Paper does not scroll.
    window.addEventListener('beforeprint', () => {
      this.isPrinting = true;
      this.draw();
    });
    window.addEventListener('afterprint', () => {
      this.isPrinting = false;
      this.draw();
    });
  }

  /** Shows other rows, columns or results. The keyboard position stays at the same instance id. */
  show(instances: readonly InstanceFacts[], columns: readonly Column[]): void {
    const id = this.instances[this.at.row]?.id;
    const focused = this.root.contains(document.activeElement);
    this.instances = instances;
    this.columns = columns;
    const row = instances.findIndex((facts) => facts.id === id);
    this.at = {
      row: Math.max(row, 0),
      column: Math.min(this.at.column, columns.length),
    };
    this.head.replaceChildren(
      element(
        'div',
        { role: 'columnheader', class: 'matrix-id', 'aria-colindex': '1' },
        'Instance',
      ),
      ...columns.map((column, index) =>
        element(
          'div',
          {
            role: 'columnheader',
            class: 'matrix-cell',
            'aria-colindex': String(index + 2),
            title: column.label,
          },
          column.label,
        ),
      ),
    );
    const least = idWidth + columns.length * narrowestColumn;
    this.root.style.setProperty('--matrix-least', `${least}px`);
    this.fitColumns();
    this.body.style.height = `${instances.length * rowHeight}px`;
    // Few rows leave no empty box; one row more has room for a scroll bar.
    this.root.style.setProperty('--matrix-rows', `${(instances.length + 2) * rowHeight}px`);
    this.root.setAttribute('aria-rowcount', String(instances.length + 1));
    this.root.setAttribute('aria-colcount', String(columns.length + 1));
    for (const each of this.rows.values()) each.remove();
    this.rows.clear();
    this.draw();
    if (focused) this.cellAt(this.at)?.focus();
  }

  /** Lets the columns share the room beside the ids, so that no word is cut beside empty room. */
  private fitColumns(): void {
    const { length } = this.columns;
    const share = Math.floor((this.root.clientWidth - idWidth) / Math.max(length, 1));
    this.columnWidth = Math.min(Math.max(share, narrowestColumn), widestColumn);
    this.root.style.setProperty('--matrix-column', `${this.columnWidth}px`);
    const width = `${idWidth + length * this.columnWidth}px`;
    this.head.style.width = width;
    this.body.style.width = width;
  }

  private drawSoon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  private draw(): void {
    const { first, last } = this.neededRows();
    for (const [index, row] of this.rows) {
      // Keep the row with the focus, or the mouse wheel would remove the focus.
      if ((index < first || index >= last) && index !== this.at.row) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index < last; index++) this.rowAt(index);
    if (this.instances.length > 0) this.rowAt(this.at.row);
  }

  /** The rows from `first` to before `last` that have to be in the document. */
  private neededRows(): { readonly first: number; readonly last: number } {
    const { length } = this.instances;
    if (this.isPrinting) return { first: 0, last: length };
    const height = this.root.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.root.scrollTop / rowHeight) - beyond);
    return { first, last: Math.min(length, first + Math.ceil(height / rowHeight) + 2 * beyond) };
  }

  private rowAt(index: number): HTMLElement | undefined {
    const there = this.rows.get(index);
    const facts = this.instances[index];
    if (there !== undefined || facts === undefined) return there;
    const tabindex = (column: number): string =>
      index === this.at.row && column === this.at.column ? '0' : '-1';
    const row = element(
      'div',
      { role: 'row', class: 'matrix-row', 'aria-rowindex': String(index + 2) },
      element(
        'div',
        {
          role: 'rowheader',
          class: 'matrix-id',
          'aria-colindex': '1',
          tabindex: tabindex(0),
          'data-at': `${index} 0`,
          title: facts.id,
        },
        facts.id,
      ),
      ...this.columns.map((column, position) => {
        const { kind, symbol, text, words, hasFindings } = columnCell(column, facts.id);
        return element(
          'div',
          {
            role: 'gridcell',
            class: `matrix-cell ${kind}`,
            'aria-colindex': String(position + 2),
            // The name too, since what the cell shows is hidden from screen readers.
            title: words,
            tabindex: tabindex(position + 1),
            'data-at': `${index} ${position + 1}`,
          },
          element('span', { class: 'symbol', 'aria-hidden': 'true' }, symbol),
          element('span', { 'aria-hidden': 'true' }, text),
          hasFindings &&
            element('span', { class: 'finding', 'aria-hidden': 'true' }, findingSymbol),
        );
      }),
    );
    row.style.transform = `translateY(${index * rowHeight}px)`;
    this.rows.set(index, row);
    // Insert rows in the order of their numbers, in which a screen reader reads them.
    const next = [...this.rows.keys()].filter((each) => each > index).sort((a, b) => a - b)[0];
    this.body.insertBefore(row, next === undefined ? null : (this.rows.get(next) ?? null));
    return row;
  }

  private cellAt({ row, column }: Position): HTMLElement | undefined {
    const cell = this.rowAt(row)?.children[column];
    return cell instanceof HTMLElement ? cell : undefined;
  }

  private positionOf(target: EventTarget | null): Position | undefined {
    const cell = target instanceof Element ? target.closest('[data-at]') : null;
    const [row, column] = (cell?.getAttribute('data-at') ?? '').split(' ').map(Number);
    return row === undefined || column === undefined || Number.isNaN(column)
      ? undefined
      : { row, column };
  }

  /** Moves the tab order to another cell. */
  private mark(position: Position): void {
    const before = this.at;
    if (before.row === position.row && before.column === position.column) return;
    this.rows.get(before.row)?.children[before.column]?.setAttribute('tabindex', '-1');
    this.at = position;
    this.cellAt(position)?.setAttribute('tabindex', '0');
  }

  /** Keeps the chosen cell in sight while the details of it are shown. */
  follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
    this.root.classList.toggle('following', isFollowing);
    if (isFollowing) this.scrollTo(this.at);
  }

  private moveTo(position: Position): void {
    this.mark(position);
    const cell = this.cellAt(position);
    if (cell === undefined) return;
    this.scrollTo(position);
    cell.focus({ preventScroll: true });
  }

  private scrollTo(position: Position): void {
    const top = position.row * rowHeight;
    const sight = this.root.clientHeight - this.head.offsetHeight;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    if (top + rowHeight > this.root.scrollTop + sight) {
      this.root.scrollTop = top + rowHeight - sight;
    }
    if (position.column > 0) {
      const { columnWidth } = this;
      const left = (position.column - 1) * columnWidth;
      const wide = this.root.clientWidth - idWidth;
      if (left < this.root.scrollLeft) this.root.scrollLeft = left;
      if (left + columnWidth > this.root.scrollLeft + wide) {
        this.root.scrollLeft = left + columnWidth - wide;
      }
    }
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || this.positionOf(event.target) === undefined) return;
    const { row, column } = this.at;
    const page = Math.max(1, Math.floor(this.root.clientHeight / rowHeight) - 2);
    const lastRow = this.instances.length - 1;
    const to = ((): Position | undefined => {
      switch (event.key) {
        case 'ArrowDown':
          return { row: row + 1, column };
        case 'ArrowUp':
          return { row: row - 1, column };
        case 'ArrowRight':
          return { row, column: column + 1 };
        case 'ArrowLeft':
          return { row, column: column - 1 };
        case 'PageDown':
          return { row: row + page, column };
        case 'PageUp':
          return { row: row - page, column };
        case 'Home':
          return event.ctrlKey ? { row: 0, column: 0 } : { row, column: 0 };
        case 'End':
          return event.ctrlKey
            ? { row: lastRow, column: this.columns.length }
            : { row, column: this.columns.length };
        default:
          return undefined;
      }
    })();
    if (to !== undefined) {
      this.moveTo({
        row: Math.min(Math.max(to.row, 0), lastRow),
        column: Math.min(Math.max(to.column, 0), this.columns.length),
      });
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.choose();
    } else {
      return;
    }
    event.preventDefault();
  }

  private choose(): void {
    const facts = this.instances[this.at.row];
    if (facts !== undefined) this.onChosen(facts, this.columns[this.at.column - 1]);
  }

  /** Returns the keyboard focus to the cell that last had it. */
  focus(): void {
    this.cellAt(this.at)?.focus();
  }
}
