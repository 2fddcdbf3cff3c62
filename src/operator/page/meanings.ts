import type { Outcome } from '../../receiver/outcomes/outcome.ts';
import { isReportCode, type ReportCode, refusals } from '../../receiver/refusals.ts';

/** The meaning of an outcome, and the next step of an operator. */
export interface Meaning {
  /** The class of its badge. */
  readonly badge: 'good' | 'bad' | 'waiting' | 'queued' | 'parked' | 'ignored' | 'refused';
  readonly means: string;
  readonly todo: string;
}

/** The outcomes of a deed that no delivery has. */
type DeedOutcome = 'done' | 'dropped' | 'missing' | 'running' | 'superseded';

const nothing = 'Nothing.';

/** The outcomes of deliveries and runs. */
export const runMeanings: Readonly<Record<Outcome, Meaning>> = {
  processed: { badge: 'good', means: 'All handlers of the event have finished.', todo: nothing },
  queued: {
    badge: 'queued',
    means: 'The event is in the queue, and a worker handles it.',
    todo: 'Nothing. If it stays so for long, look for a running worker.',
  },
  duplicate: { badge: 'good', means: 'The event was handled before, so nothing ran.', todo: nothing },
  ignored: {
    badge: 'ignored',
    means: 'No handler takes events of this type.',
    todo: 'Nothing, or ask the developers if somebody expected an effect.',
  },
  parked: {
    badge: 'parked',
    means: 'The event could not be handled, and is kept as a dead letter. The sender will not send it again.',
    todo: 'Read its error. Once the cause is gone, replay it.',
  },
  handshake: { badge: 'good', means: 'The sender tested the address, and was answered.', todo: nothing },
  rejected: {
    badge: 'refused',
    means: 'The request was refused before any handler saw it.',
    todo: 'Nothing if a stranger sent it. If the sender is genuine, read the code.',
  },
  failed: {
    badge: 'bad',
    means: 'A handler failed, or the application could not handle the event now.',
    todo: 'Nothing while the sender retries. Read the code.',
  },
  busy: {
    badge: 'waiting',
    means: 'Something else handled the event, or one of the same key, at that time.',
    todo: 'Nothing: the sender retries. Do a replay or a rerun again later.',
  },
};

/** Each outcome that the page shows. */
export const outcomeMeanings: Readonly<Record<Outcome | DeedOutcome, Meaning>> = {
  ...runMeanings,
  done: { badge: 'good', means: 'The rerun of this name has done it before.', todo: nothing },
  dropped: { badge: 'ignored', means: 'The event was given up, and the dead letter is gone.', todo: nothing },
  missing: {
    badge: 'ignored',
    means: 'It is not there any more: somebody else replayed, dropped or pruned it.',
    todo: nothing,
  },
  running: {
    badge: 'waiting',
    means: 'Its handlers are still running, or may be.',
    todo: 'Look again in a few minutes.',
  },
  superseded: {
    badge: 'ignored',
    means: 'A newer event of the same resource was handled, so this one was skipped.',
    todo: nothing,
  },
};

const retried = 'Nothing: the sender tries again. If it lasts, tell the developers.';
const setup = 'Tell the developers: the application is not set up for what came.';
const sender = 'Nothing if a stranger sent it. Else compare the settings of sender and receiver.';
const inspect = 'Ask the sender what it is: it may be a test. No handler can read it, so drop it then.';
const cause = 'Let the developers remove the cause. Then a retry of the sender, or a replay, runs it again.';

/** The next step of an operator, by the code of an error. */
const todos: Readonly<Record<ReportCode, string>> = {
  not_found: sender,
  account_unknown: sender,
  method_not_allowed: sender,
  credentials_invalid: sender,
  signature_missing: sender,
  signature_repeated: sender,
  signature_malformed: sender,
  signature_mismatch: sender,
  signature_expired: 'Nothing if a stranger sent it. Else check the clock of the machine.',
  encoding_unsupported: sender,
  body_too_large: sender,
  body_timeout: retried,
  body_incomplete: retried,
  body_not_json: inspect,
  envelope_invalid: inspect,
  event_too_old:
    'It may be a recording that somebody sent again. Replay it only if the sender says that it is not.',
  event_in_future: 'Check the clock of the machine, then replay it.',
  body_missing: 'Fetch the event from its sender: the journal does not have its body.',
  handler_unfinished: 'Replay its dead letter, or wait for the retry. A rerun is for finished handlers.',
  handler_failed: cause,
  handler_failed_permanently: cause,
  data_invalid: cause,
  body_already_parsed: setup,
  configuration_invalid: setup,
  internal_error: 'Tell the developers: the log of the application says more.',
  deadline_reached: 'Look again later: its handlers went on. If it comes often, tell the developers.',
  run_timeout: 'Find out with the developers what hung. Check what its handlers did before you replay it.',
  run_closed: 'Nothing if a retry followed. A dead letter can be replayed.',
  run_abandoned:
    'A process died while it ran the handlers. Check what they did, for example a payment, before you replay it.',
  store_unavailable: 'See Health. Once the store is back, a retry of the sender, or a replay, runs it.',
  keys_unavailable: retried,
  buffer_full: retried,
  closing: retried,
  queue_unavailable:
    'See if the queue is there. Once it is back, a retry of the sender, or a replay, runs it.',
  too_many_running: retried,
  provider_mismatch: setup,
  job_unreadable: setup,
  handler_missing: setup,
  no_handlers: setup,
  event_running: 'Look again in a few minutes.',
  key_busy: 'Look again in a few minutes.',
};

/** The meaning of each code of an error, and the next step. */
export const codeMeanings: Readonly<Record<string, Pick<Meaning, 'means' | 'todo'>>> = Object.fromEntries(
  Object.entries(todos).flatMap(([code, todo]) =>
    isReportCode(code) ? [[code, { means: `${refusals[code][2]}.`, todo }]] : [],
  ),
);
