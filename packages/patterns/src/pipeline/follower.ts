import type { Connection } from '@acemq/amqp';
import { accept, type Codec, FatalError, type Handler, isAck, type Message, shown } from '@acemq/core';
import { reportFinished } from './finished-run.ts';
import { sendHop } from './hop-sender.ts';
import { type Place, readItinerary } from './itinerary.ts';
import { lossesOf } from './lost-deliveries.ts';
import { type Run, runOf } from './run.ts';
import { isRunAnswer, type StepAnswer } from './step-answer.ts';

/**
 * Works one message at one step and says what becomes of the run. An error that it throws means `retry(error)`, by the
 * retry policy of this step's queue; a `FatalError` means that trying again cannot help.
 */
export type StepHandler<T = unknown> = (message: Message<T>, run: Run) => StepAnswer | Promise<StepAnswer>;

/**
 * The handler of a queue whose messages belong to runs: reads where the run goes, asks the step, and sends the run on
 * before the message is accepted.
 *
 * @param codec - Writes the payloads that the step hands on.
 */
export function followed<T>(mq: Connection, place: Place, handler: StepHandler<T>, codec: Codec): Handler<T> {
  return async (message) => {
    const losses = lossesOf(mq);
    const itinerary = readItinerary(message.envelope, place);
    const run = runOf(itinerary, place);
    const answer: unknown = await handler(message, run);
    if (isAck(answer) && answer.decision !== 'accept') return answer;
    if (!isRunAnswer(answer)) throw refused(run, answer);
    const to = run.next;
    if (answer.decision === 'next' && to !== undefined) {
      return sendHop(mq, codec, { message, answer, itinerary, to, losses });
    }
    // What went with its link comes again, and is counted then.
    if (lossesOf(mq) === losses) reportFinished(mq, run, message.envelope);
    return accept();
  };
}

function refused({ step }: Run, answer: unknown): FatalError {
  const given = isAck(answer) ? 'accept(), which does not say what becomes of the run' : shown(answer);
  return new FatalError(
    `the step ${shown(step)} answered ${given}; a step answers next(), end(), retry(), reject(), park() or inProgress()`,
  );
}
