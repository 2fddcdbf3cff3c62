import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { DeliveryAttempt } from './attempt.ts';

type Observer = (attempt: DeliveryAttempt) => void;

/** The functions that are called with each attempt. */
export class Observers {
  readonly #observers: Observer[] = [];

  readonly add = (observer: Observer): void => void this.#observers.push(observer);

  readonly onAttempt = (attempt: DeliveryAttempt): void => {
    for (const observer of this.#observers) {
      try {
        observer(attempt);
      } catch (error) {
        process.emitWarning(`sandbox: an observer failed: ${messageOf(error)}`);
      }
    }
  };
}
