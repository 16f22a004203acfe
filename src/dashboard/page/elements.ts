type Child = Node | string | undefined | false;

/**
 * Makes an element. Texts, which may quote tests and models, become text nodes and never markup.
 * `style` is not allowed as an attribute, since the content security policy forbids inline styles.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, value);
  }
  for (const child of children) if (child !== undefined && child !== false) made.append(child);
  return made;
}

/** A text of a run, which may be of any length: a browser hangs over a megabyte without a blank. */
export const boundedText = (text: string): string =>
  text.length > 2000 ? `${text.slice(0, 2000)}…` : text;

/** A box in which a table scrolls sideways on its own, so that the page stays as wide as its window. */
export const wideBox = (table: HTMLElement): HTMLElement =>
  element('div', { class: 'wide' }, table);

/** The caption of a table in such a box. */
export const captionOf = (text: string): HTMLElement =>
  element('caption', {}, element('span', {}, text));

export function button(
  text: string,
  onClick: () => void,
  attributes: Readonly<Record<string, string | undefined>> = {},
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onClick);
  return made;
}

/** The options of a drop-down list. */
type Options<Value extends string> = readonly (readonly [value: Value, text: string])[];

export interface ChoiceField<Value extends string> {
  readonly field: HTMLLabelElement;
  set(options: Options<Value>, chosen: Value): void;
}

/** A drop-down list with its label. */
export function choice<Value extends string>(
  label: string,
  options: Options<Value>,
  chosen: Value,
  onChange: (value: Value) => void,
): ChoiceField<Value> {
  const select = element('select');
  const fill = (list: Options<Value>, value: Value): void => {
    select.replaceChildren(...list.map(([of, text]) => element('option', { value: of }, text)));
    select.value = value;
  };
  fill(options, chosen);
  select.addEventListener('change', () => onChange(select.value as Value));
  return { field: element('label', { class: 'field' }, `${label} `, select), set: fill };
}

/** Replaces the children of an element. */
export function show(place: Element, ...children: readonly Child[]): void {
  place.replaceChildren(
    ...children.filter((child): child is Node | string => child !== undefined && child !== false),
  );
}
