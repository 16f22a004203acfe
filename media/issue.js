// Runs inside the panel of an issue. It only reports clicks and stores the state of the page.
(() => {
  const vscode = acquireVsCodeApi();
  const body = document.body;
  const before = vscode.getState();
  const state = {
    source: false,
    scroll: 0,
    open: [],
    ...(before?.id === body.dataset.id ? before : {}),
    id: body.dataset.id,
  };
  const save = () => vscode.setState(state);

  const toggle = document.querySelector('[data-do="source"]');
  const showSource = () => {
    for (const each of document.querySelectorAll('article.rendered')) each.hidden = state.source;
    for (const each of document.querySelectorAll('article.source')) each.hidden = !state.source;
    toggle?.setAttribute('aria-pressed', String(state.source));
  };

  const act = (target) => {
    const reference = target.closest('.reference');
    if (reference !== null) {
      vscode.postMessage({ do: 'open', reference: Number(reference.dataset.reference) });
      return true;
    }
    const button = target.closest('button[data-do]');
    const { do: does } = button?.dataset ?? {};
    if (['openInstance', 'reveal', 'environment'].includes(does)) vscode.postMessage({ do: does });
    if (button?.dataset.do === 'source') {
      state.source = !state.source;
      showSource();
      save();
    }
    return button !== null;
  };

  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && act(event.target)) event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.target instanceof Element)) return;
    if (event.target.classList.contains('reference') && act(event.target)) event.preventDefault();
  });

  for (const section of document.querySelectorAll('details.revealed')) {
    section.open = state.open.includes(section.id);
    section.addEventListener('toggle', () => {
      state.open = [...document.querySelectorAll('details.revealed[open]')].map(({ id }) => id);
      save();
    });
  }

  // Who moves about in the page reads it.
  const reads = () => vscode.postMessage({ do: 'read' });
  for (const event of ['pointerdown', 'wheel', 'keydown']) {
    document.addEventListener(event, reads, { once: true, passive: true });
  }

  let waiting = false;
  window.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      state.scroll = window.scrollY;
      save();
    }, 200);
  });

  showSource();
  // The page that says "Reading…" is too short to scroll, and must not overwrite the stored position.
  if (toggle !== null) window.scrollTo(0, state.scroll);
  save();
})();
