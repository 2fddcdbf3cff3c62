import type { StoreOperation } from '../stores/kit/store-operations.ts';
import { clock } from './clock.ts';

type LetterOperation = 'get' | 'put' | 'remove';

/** An operation that a process has sent, and whose answer it waits for. */
export interface Operation {
  readonly process: string;
  readonly kind: StoreOperation | 'peek' | LetterOperation | 'handlers';
  /** The claim that it belongs to. */
  readonly token: string | undefined;
  /** The further claims that the handlers of a rerun need. */
  readonly alsoNeeds: readonly string[];
  /** Its arguments. */
  readonly request: unknown;
  /** The action in which it was sent. */
  readonly cause: string;
  /** By the monotonic clock. */
  readonly sentAt: number;
  /** True once it has been performed. */
  hasArrived: boolean;
  /** The answer, once it has arrived. */
  answer: unknown;
  /** True if the process will never be answered. */
  isLost: boolean;
  /** Performs it, unless that has happened. */
  readonly arrive: () => void;
  /** Performs it once more: its client had repeated it. */
  readonly arriveAgain: () => void;
  /** Performs it, unless that has happened, and gives the process its answer. */
  readonly reply: () => void;
  /** Gives the process an error. */
  readonly fail: (error: Error) => void;
}

/** Sends an operation for the process that runs now. Its answer comes when the world says. */
export function send<T>(
  pending: Operation[],
  kind: Operation['kind'],
  token: string | undefined,
  request: unknown,
  perform: () => T,
  alsoNeeds: readonly string[] = [],
): Promise<T> {
  return new Promise((resolve, reject) => {
    let give: (() => void) | undefined;
    const operation: Operation = {
      process: clock.process,
      kind,
      token,
      alsoNeeds,
      request,
      cause: clock.action,
      sentAt: clock.now,
      hasArrived: false,
      answer: undefined,
      isLost: false,
      arrive: () => {
        if (operation.hasArrived) return;
        const answer = perform();
        operation.hasArrived = true;
        operation.answer = answer;
        give = () => resolve(answer);
      },
      arriveAgain: () => void perform(),
      reply: () => {
        operation.arrive();
        give?.();
      },
      fail: reject,
    };
    pending.push(operation);
  });
}

export function isOfLetter(kind: Operation['kind']): boolean {
  return kind === 'get' || kind === 'put' || kind === 'remove';
}

export function isOfStore(kind: Operation['kind']): boolean {
  return kind !== 'handlers' && !isOfLetter(kind);
}
