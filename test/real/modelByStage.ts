import type { AgentlessStage } from '../../src/method/agentless/agentlessSettings';
import { isOfStage, stageOf } from '../commandLine/agentlessScript';
import { fakeModels, type Asked, type FakeModels } from '../commandLine/fakeModels';

/** A server with a model that answers by the stage of a request, and an embedding model. */
export interface ModelByStage extends FakeModels {
  /** Requests of a stage that were answered; of repairs only those that are not greedy. */
  countOf(stage: AgentlessStage): number;
}

/** What a {@link ModelByStage} does. */
interface StageAnswers {
  /** @param before number of requests of the stage that were answered before */
  readonly answer: (asked: Asked, before: number) => string;
  readonly vectors: (texts: readonly string[]) => number[][];
  /** The answer to a request of no stage. */
  readonly other?: string;
  /** Called before a request is answered; what is true leaves it without an answer. */
  readonly isHeld?: (stage: AgentlessStage) => boolean;
}

export async function modelByStage(answers: StageAnswers): Promise<ModelByStage> {
  const { answer, vectors, other = '', isHeld = () => false } = answers;
  const isCounted = ({ text, temperature }: Asked, stage: AgentlessStage): boolean =>
    isOfStage(text) && stageOf({ text }) === stage && (stage !== 'repair' || temperature !== 0);
  const countOf = (stage: AgentlessStage): number =>
    server.answered.filter((each) => isCounted(each, stage)).length;
  const server = await fakeModels(
    (asked) => {
      if (!isOfStage(asked.text)) return { text: other };
      const stage = stageOf(asked);
      return isHeld(stage) ? { hang: true } : { text: answer(asked, countOf(stage)) };
    },
    (texts) => (isHeld('retrieval') ? { hang: true } : vectors(texts)),
  );
  return { ...server, countOf };
}
