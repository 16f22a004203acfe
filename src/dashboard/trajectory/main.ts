import type { ShownTrajectory, TrajectoryRow } from '../../trajectory/trajectoryPages';
import { element } from '../page/elements';
import { TrajectoryPage } from './trajectoryPage';
import { trajectoryProblem } from './trajectoryProblem';
import {
  trajectoryOf,
  type TrajectoryState,
  type TrajectoryToHost,
  type TrajectoryToPage,
} from '../trajectoryProtocol';

/** The functions of VS Code, with the messages of this page: the dashboard declares them with its own. */
interface Host {
  postMessage(message: TrajectoryToHost): void;
  getState(): TrajectoryState | undefined;
  setState(state: TrajectoryState): void;
}

const root = document.querySelector('main');
if (root !== null) start(root);

function start(root: HTMLElement): void {
  // A separate file contains its data; in VS Code they come as messages.
  const data = [...document.querySelectorAll('script[type="application/json"]')];
  const [index] = data;
  if (index !== undefined) {
    new TrajectoryPage(root, JSON.parse(index.textContent ?? '') as TrajectoryRow[], async (at) => {
      // A trajectory may have megabytes, so it is read only when it is opened.
      return JSON.parse(data[at + 1]?.textContent ?? '') as ShownTrajectory;
    });
    return;
  }
  const host = globalThis.acquireVsCodeApi?.() as Host | undefined;
  if (host === undefined) {
    root.replaceChildren(element('p', {}, 'This page has no trajectory.'));
    return;
  }
  startInEditor(root, host);
}

function startInEditor(root: HTMLElement, host: Host): void {
  const { origin } = root.dataset;
  let { row } = host.getState() ?? {};
  const keep = (): void =>
    host.setState({ ...(origin !== undefined && { origin: JSON.parse(origin) as unknown }), row });
  keep();
  const waiting = new Map<number, (shown: ShownTrajectory) => void>();
  window.addEventListener('message', (event: MessageEvent<TrajectoryToPage>) => {
    const message = event.data;
    if (message.type === 'trajectory') {
      waiting.get(message.at)?.(trajectoryOf(message.shown));
      waiting.delete(message.at);
      return;
    }
    if (message.type === 'problem') {
      root.replaceChildren(trajectoryProblem(message, () => host.postMessage({ do: 'ready' })));
      return;
    }
    const load = (at: number): Promise<ShownTrajectory> =>
      new Promise((resolve) => {
        waiting.set(at, resolve);
        host.postMessage({ do: 'load', at });
      });
    new TrajectoryPage(root, message.rows, load, {
      // The file may have other rows than in the window before.
      open:
        row !== undefined && message.rows[row.at]?.instance === row.instance ? row.at : undefined,
      onOpen: (opened) => {
        row = opened;
        keep();
      },
    });
  });
  host.postMessage({ do: 'ready' });
}
