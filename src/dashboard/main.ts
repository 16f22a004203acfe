import { unpack, type PackedStudy } from '../study/document';
import { element } from './page/elements';
import { Page } from './page/page';
import { fromBytes, type ToHost, type ToPage } from './protocol';

/** The interface that VS Code provides to the page of a webview. */
interface Host {
  postMessage(message: ToHost): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare global {
  // Only VS Code provides it.
  var acquireVsCodeApi: (() => Host) | undefined;
}

const root = document.querySelector('main');
if (root !== null) start(root);

function start(root: HTMLElement): void {
  // A separate file contains its data; in VS Code they come as a message, followed by updates.
  const data = document.querySelector('script[type="application/json"]')?.textContent;
  if (data !== undefined && data !== null) {
    new Page(root, unpack(JSON.parse(data) as PackedStudy), {
      tell: undefined,
      save: saveInBrowser,
      hidden: namesOf(storedHidden()),
      keepHidden: storeHidden,
    });
    markPaint();
    return;
  }
  const host = globalThis.acquireVsCodeApi?.();
  if (host === undefined) {
    root.replaceChildren(element('p', {}, 'This page has no data.'));
    return;
  }
  // VS Code restores these after a reload: the shown runs, and the hidden methods.
  const before = host.getState() as { readonly hidden?: unknown } | undefined;
  const runs = JSON.parse(root.dataset['runs'] ?? '[]') as unknown;
  let hidden = namesOf(before?.hidden ?? JSON.parse(root.dataset['hidden'] ?? '[]'));
  host.setState({ runs, hidden });
  let page: Page | undefined;
  const waiting: ToPage[] = [];
  window.addEventListener('message', (event: MessageEvent<ToPage>) => {
    const message = event.data;
    if (page !== undefined) {
      page.receive(message);
    } else if (message.type === 'document') {
      performance.mark('data received');
      page = new Page(root, fromBytes(message.document), {
        tell: (told) => host.postMessage(told),
        save: (name, content) =>
          void base64(content).then((text) =>
            host.postMessage({ do: 'save', name, content: text }),
          ),
        hidden,
        keepHidden: (methods) => {
          hidden = methods;
          host.setState({ runs, hidden });
          host.postMessage({ do: 'hidden', methods });
        },
      });
      for (const each of waiting.splice(0)) page.receive(each);
      markPaint();
    } else {
      waiting.push(message);
    }
  });
  host.postMessage({ do: 'ready' });
}

/** A file as base64, for a message to the host. */
async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  // In chunks, since the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

/** Saves a file through the browser, for a page without a host. */
function saveInBrowser(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === 'string')
    : [];
}

/**
 * The key in the browser's storage under which a separate file stores the hidden methods, by its
 * own address.
 */
function storageKey(): string {
  return `swt-bench hidden ${location.pathname}`;
}

function storedHidden(): unknown {
  try {
    return JSON.parse(localStorage.getItem(storageKey()) ?? '[]') as unknown;
  } catch {
    // Browsers may refuse storage to files.
    return [];
  }
}

function storeHidden(methods: readonly string[]): void {
  try {
    localStorage.setItem(storageKey(), JSON.stringify(methods));
  } catch {
    // Without storage it is valid until the page is left.
  }
}

/**
 * Sets a performance mark when the first data have been painted, in the task after the next frame.
 */
function markPaint(): void {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => performance.mark('data shown'), { once: true });
    port1.start();
    port2.postMessage(undefined);
  });
}
