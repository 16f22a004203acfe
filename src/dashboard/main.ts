import { unpack, type PackedStudy } from '../domain/study/packed';
import { base64, download } from './exportPlot';
import { element } from './elements';
import { Page } from './page';
import type { ToHost, ToPage } from './protocol';

/** What VS Code gives to the page of a webview. */
interface Host {
  postMessage(message: ToHost): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare global {
  // Given by VS Code alone.
  var acquireVsCodeApi: (() => Host) | undefined;
}

const root = document.querySelector('main');
if (root !== null) start(root);

function start(root: HTMLElement): void {
  // The file by itself holds its data; in VS Code they come as a message, and later ones after them.
  const data = document.querySelector('script[type="application/json"]')?.textContent;
  if (data !== undefined && data !== null) {
    new Page(root, unpack(JSON.parse(data) as PackedStudy), { tell: undefined, save: download });
    markPaint();
    return;
  }
  const host = globalThis.acquireVsCodeApi?.();
  if (host === undefined) {
    root.replaceChildren(element('p', {}, 'This page holds no data.'));
    return;
  }
  let page: Page | undefined;
  const waiting: ToPage[] = [];
  window.addEventListener('message', (event: MessageEvent<ToPage>) => {
    const message = event.data;
    if (page !== undefined) {
      page.receive(message);
    } else if (message.type === 'document') {
      page = new Page(root, unpack(message.document), {
        tell: (told) => host.postMessage(told),
        save: (name, content) =>
          void base64(content).then((text) =>
            host.postMessage({ do: 'save', name, content: text }),
          ),
      });
      for (const each of waiting.splice(0)) page.receive(each);
      markPaint();
    } else {
      waiting.push(message);
    }
  });
  // What VS Code brings back after a reload: which runs are shown.
  host.setState({ runs: JSON.parse(root.dataset['runs'] ?? '[]') as unknown });
  host.postMessage({ do: 'ready' });
}

/** Leaves a mark when the first data have been painted: the task after the next frame. */
function markPaint(): void {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => performance.mark('data shown'), { once: true });
    port1.start();
    port2.postMessage(undefined);
  });
}
