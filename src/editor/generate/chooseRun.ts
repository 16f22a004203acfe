import * as vscode from 'vscode';
import { z } from 'zod';
import { HumanError } from '../../domain/work';
import type { LimitProfile } from '../../method/agents';
import type { Method } from '../../method/method';
import { methodOf } from '../../method/methods';
import type { InstanceSource } from '../instance/instanceRoles';
import { openSetting } from '../shell/problems';
import { askForTestsOfModels } from '../tools/testsOfModels';
import type { ChoosableModels, ChosenModel } from './choosableModels';
import { costInWords, estimatedCost, type EstimateParts } from './estimatedCost';
import { generateSettings } from './settings';

/** What a caller has chosen by their names; the user is asked for the others. */
const askedNames = z.object({ method: z.string().optional(), model: z.string().optional() });
export type AskedNames = Readonly<z.infer<typeof askedNames>>;

/** @param argument of a command, which may be anything */
export const namesIn = (argument: unknown): AskedNames => askedNames.safeParse(argument).data ?? {};

interface Choosing {
  /** What the run is for. */
  readonly title: string;
  readonly methods: readonly Method[];
  readonly models: ChoosableModels;
  readonly parts: EstimateParts;
  /** What is shown of a method after its cost. */
  readonly more?: (method: Method) => string;
  /** A last row that leads to more methods. */
  readonly further?: FurtherMethods;
}

/** A row that opens a setting, where methods can be added. */
interface FurtherMethods {
  readonly label: string;
  readonly description: string;
  readonly setting: string;
}

/** A method and a model to run it with. */
interface ChosenRun {
  readonly method: Method;
  readonly model: ChosenModel;
}

/**
 * Lets the user choose a method and a model, each with what it costs. Asks last whether tests of
 * models may run, where the method runs them: without the permission the answers would be paid for
 * in vain.
 *
 * @returns undefined when the user cancels
 * @throws HumanError when nothing has a name that is given, or the tests may not run
 */
export async function chooseRun(
  names: AskedNames,
  { folder }: Pick<InstanceSource, 'folder'>,
  { title, methods, models, parts, more, further }: Choosing,
): Promise<ChosenRun | undefined> {
  const method =
    names.method === undefined
      ? await chooseMethod(title, methods, further, async (each) => {
          const cost = costInWords(await estimatedCost(each, parts), models.lastPriced());
          return [cost, ...(more === undefined ? [] : [more(each)])].join(' · ');
        })
      : methodByName(names.method, methods);
  if (method === undefined) return undefined;
  const cost = await estimatedCost(method, parts);
  const { title: name, asksItself } = method;
  const asking = asksItself && { title: name, providers: asksItself.providers };
  const model =
    names.model === undefined
      ? await models.choose(vscode.l10n.t('{0} with {1}: Select a Model', title, method.title), {
          ...{ needsTools: method.needsTools === true, asking },
          costOf: (priced) => costInWords(cost, priced),
        })
      : await models.byName(names.model, asking);
  if (model === undefined) return undefined;
  if (method.runs !== 'nothing') await askForTestsOfModels(folder, 'person');
  return { method, model };
}

interface MethodItem extends vscode.QuickPickItem {
  readonly method?: Method;
  readonly setting?: string;
}

async function chooseMethod(
  title: string,
  methods: readonly Method[],
  further: FurtherMethods | undefined,
  // The end of a long line is cut off, and the cost is not said elsewhere.
  detailOf: (method: Method) => Promise<string>,
): Promise<Method | undefined> {
  const items: MethodItem[] = [];
  for (const method of methods) {
    const { title: label, description } = method;
    items.push({ label, description, detail: await detailOf(method), method });
  }
  const last: MethodItem[] = further === undefined ? [] : [{ ...further }];
  const chosen = await vscode.window.showQuickPick([...items, ...last], {
    title: vscode.l10n.t('{0}: Select a Method', title),
    matchOnDescription: true,
  });
  if (chosen?.setting !== undefined) await openSetting(chosen.setting);
  return chosen?.method;
}

function methodByName(name: string, methods: readonly Method[]): Method {
  const method = methodOf(name, methods);
  if (method !== undefined) return method;
  throw new HumanError(
    vscode.l10n.t('{0} is not a method', JSON.stringify(name)),
    vscode.l10n.t('Choose {0}', methods.map((each) => each.name).join(', ')),
  );
}

/** The parts of an estimate for the open instance, with the settings of this moment. */
export async function estimateParts(
  open: Pick<InstanceSource, 'instance' | 'python'>,
  limits: LimitProfile = generateSettings().agentLimits,
): Promise<EstimateParts> {
  const { contextTokens, maxOutputTokens } = generateSettings();
  const [instance, python] = [await open.instance(), () => open.python()];
  return { instance, python, contextTokens, maxOutputTokens, limits };
}
