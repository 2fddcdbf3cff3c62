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
    means: 'It is not there any more: it was handled, dropped or pruned meanwhile.',
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

const retried = 'Replay it if it is parked; else the sender tries again. If it lasts, tell the developers.';
const running = 'Look again in a few minutes. If it is parked then, replay it.';
const setup = 'Tell the developers: the application is not set up for what came.';
const sender = 'Nothing if a stranger sent it. Else compare the settings of sender and receiver.';
const inspect =
  'Ask the sender what it is. Drop it if it was a test, or if the sender has sent the event again.';
const cause =
  'Let the developers remove the cause. Then replay it if it is parked; else the sender tries again.';

/** The next step of an operator, by the code of an error. */
const todos: Readonly<Record<ReportCode, string>> = {
  not_found: sender,
  account_unknown: sender,
  method_not_allowed:
    'Nothing if it was a browser. Else a redirect may have turned POST into GET: tell the developers.',
  credentials_invalid: sender,
  signature_missing: sender,
  signature_repeated: sender,
  signature_malformed: sender,
  signature_mismatch: sender,
  signature_expired: 'Nothing if a stranger sent it. Else check the clock of the machine.',
  encoding_unsupported: 'Tell the developers: a proxy compresses requests.',
  body_too_large: 'Nothing if a stranger sent it. Else let the developers raise maxBodyBytes.',
  body_timeout: retried,
  body_incomplete: retried,
  body_not_json: inspect,
  envelope_invalid: inspect,
  event_too_old:
    'Check the clock of the machine. After a long outage events are old too. Otherwise it may be a recording that ' +
    'somebody sent again: replay it only if the sender says that it is not.',
  event_in_future: 'Check the clock of the machine, then replay it.',
  body_missing: 'Fetch the event from its sender: the journal does not have its body.',
  handler_unfinished: 'Replay its dead letter, or wait for the retry. A rerun is for finished handlers.',
  handler_failed: cause,
  handler_failed_permanently: cause,
  data_invalid: cause,
  body_already_parsed: setup,
  configuration_invalid: setup,
  internal_error: 'Tell the developers: the log of the application says more.',
  deadline_reached: running,
  run_timeout: 'Find out with the developers what hung. Check what its handlers did before you replay it.',
  run_closed: 'Nothing if a retry followed. A dead letter can be replayed.',
  run_abandoned:
    'A process died while it ran the handlers. Check what they did, for example a payment, before you replay it.',
  store_unavailable:
    'See Health. Once the store is back, replay it if it is parked; else the sender tries again.',
  keys_unavailable: 'The sender tries again. Tell those who run the service that gives the signing keys.',
  buffer_full: retried,
  closing: retried,
  queue_unavailable:
    'See if the queue is there. Once it is back, replay it if it is parked; else the sender tries again.',
  too_many_running: retried,
  provider_mismatch: setup,
  job_unreadable: setup,
  handler_missing: 'It passes with the end of a deploy. If it does not, tell the developers.',
  no_handlers: setup,
  event_running: running,
  key_busy: running,
};

/** The meaning of each code of an error, and the next step. */
export const codeMeanings: Readonly<Record<string, Pick<Meaning, 'means' | 'todo'>>> = Object.fromEntries(
  Object.entries(todos).flatMap(([code, todo]) =>
    isReportCode(code) ? [[code, { means: `${refusals[code][2]}.`, todo }]] : [],
  ),
);
