import { createReceiver } from '../../create-receiver.ts';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { Receiver } from '../../receiver-interface.ts';
import type { Output } from '../output.ts';
import { colours, joined } from '../terminal-text.ts';
import type { DemoStorage } from './storage.ts';

interface DemoSettings extends Pick<DemoStorage, 'store' | 'deadLetters'> {
  readonly signingKey: string;
  readonly authentication: Authentication;
  /** The sandbox's clock, which the scenario moves. */
  readonly now: () => number;
}

/** Creates the receiver of the scenario: one of its handlers fails once, another one always. */
export function createDemoReceiver(settings: DemoSettings, output: Output): Receiver {
  const startedAt = settings.now();
  return createReceiver(settings)
    .on('settlement.approved', (_event, { attempt }) => {
      if (attempt === 1) throw new Error('the ledger is locked');
    })
    .on('dispute.created', () => {
      throw new Error('no such merchant');
    })
    .on('*', () => {})
    .observe((report) => printReport(report, report.receivedAt - startedAt, output));
}

/** Prints a delivery with its time by the sandbox's clock, since the start. */
function printReport(report: Report, sinceStartMs: number, output: Output): void {
  const { status, outcome, event, attempt, final, error } = report;
  const message = error && messageOf(error);
  const value = { kind: 'delivery', sinceStartMs, status, outcome, event, attempt, final, message };
  output.print(value, () => {
    const seconds = Math.round(sinceStartMs / 1_000);
    const clock = `+${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    // A duplicate does not make an attempt of its own.
    const isAttempt = attempt !== undefined && outcome !== 'duplicate';
    const tries = isAttempt ? `attempt ${attempt}${final ? ' (the last)' : ''}` : undefined;
    const result = (status < 300 ? colours.good : colours.bad)(`${status}  ${outcome}`);
    const details = [event?.type, event?.id, tries, message].filter((detail) => detail !== undefined);
    return joined([colours.minor(clock), result, ...details], '  ');
  });
}
