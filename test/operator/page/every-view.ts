import type { Page } from 'playwright-core';
import { shutGate } from '../../support/gate.ts';
import { createOperated, idOf, letter, letters, type Operated, record } from '../operated.ts';
import { deliver } from '../sent.ts';
import type { Look } from './looks.ts';

const long = (character: string, length = 400): string => character.repeat(length);

/** A long id without a space. */
export const LONG_ID: string = `evt_${long('i')}`;

/** The dead letters whose handler fails again. */
const FAILING = [idOf(4), idOf(5)];

/** A receiver whose views have something of everything, as long as it can be. */
export function createFull(): Operated {
  const type = `transfer.${long('t')}`;
  const wide = { id: LONG_ID, type, message: long('m', 2_000), handled: [long('h')], account: long('a') };
  const headers = { [`x-${long('n')}`]: [long('v')] };
  const rawBody = Buffer.from(
    JSON.stringify({
      id: LONG_ID,
      type,
      [long('k')]: long('b', 60_000),
      list: Array(150).fill(1),
      deep: { of: {} },
    }),
  );
  return createOperated({
    parked: [
      letter(1, { ...wide, headers, rawBody, lastTriedAt: 1, runningUntil: Date.now() + 3_600_000 }),
      letter(2, { type: undefined, reason: 'envelope_invalid', rawBody: Buffer.from('not JSON') }),
      ...letters(30).slice(3),
    ],
    records: [
      record(1, {
        id: LONG_ID,
        type,
        outcome: 'parked',
        code: 'handler_failed',
        handled: [long('h'), 'book'],
      }),
      record(2, { deliveries: 3, resource: long('r'), createdAt: 1_700_000_000_000, account: long('a') }),
      record(3, { outcome: 'failed', code: 'deadline_reached', handled: [] }),
      record(4, { outcome: 'queued' }),
      record(5, { outcome: 'ignored', handled: [] }),
      record(6, { outcome: 'rejected', code: 'account_unknown', handled: [], rawBody: undefined }),
    ],
    handle: ({ id }) => {
      if (id === idOf(200) || FAILING.includes(id)) throw new Error(long('e', 1_000));
    },
  });
}

/** Delivers events to the receiver of {@link createFull}. A mount lists only what comes after it. */
export async function deliverSome({ receiver }: Operated): Promise<void> {
  await deliver(receiver, LONG_ID);
  await deliver(receiver, LONG_ID);
  await deliver(receiver, idOf(200));
  await deliver(receiver, 'x', { 'x-service-signature': [long('0', 64)] });
}

/** Each view with its address, and the title of its document. */
export const views: readonly (readonly [fragment: string, title: string])[] = [
  ['#/dead-letters', 'Dead letters'],
  [`#/dead-letters/${LONG_ID}`, `transfer.${long('t')}`],
  [`#/dead-letters/${idOf(2)}`, 'An unreadable event'],
  ['#/events', 'Journal'],
  [`#/events/${LONG_ID}`, `transfer.${long('t')}`],
  [`#/events/${idOf(2)}`, 'transfer.succeeded'],
  ['#/deliveries', 'Deliveries'],
  ['#/health', 'Health'],
  ['#/meanings', 'Meanings'],
  ['#/nowhere', 'It cannot be shown'],
  [`#/dead-letters/${long('z')}`, 'No dead letter'],
];

/** Goes through the states of the dialog, and lets `look` see each. */
export async function throughDialog(
  { goTo, page }: Look,
  look: (state: string) => Promise<void>,
): Promise<void> {
  const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).click();
  await goTo('#/events');
  await press('Rerun all that match…');
  await look('the form of a rerun');
  await press('Count');
  await page.getByText('handlers').last().waitFor();
  await look('a refused count');
  await press('Cancel');

  await goTo('#/dead-letters');
  const counting = await held(page, 0);
  await press('Replay all that match…');
  await page.getByText('Counting…').waitFor();
  await look('counting');
  counting.open();
  await page.getByText('28 events.', { exact: true }).waitFor();
  await look('counted');

  const running = await held(page, 1);
  await press('Replay 28');
  await page.getByText(/ of 28\.$/).waitFor();
  await look('running, with failures');
  await press('Stop');
  await look('stopping');
  running.open();
  await page.getByText(/^Stopped: |^Done: /).waitFor();
  await look('stopped, with failures');
  await press('Close');
}

/** Lets so many further requests to replay pass, and holds the one after them. */
async function held(page: Page, passing: number): Promise<{ readonly open: () => void }> {
  const gate = shutGate();
  let asked = 0;
  await page.route('**/dead-letters/replay*', async (route) => {
    asked += 1;
    if (asked > passing) await gate.pass();
    await route.continue();
  });
  return gate;
}
