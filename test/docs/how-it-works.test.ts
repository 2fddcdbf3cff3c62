import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { diagramOfSteps } from '../receiver/handling/run/run-steps.ts';
import { promiseTexts } from '../simulation/promise-texts.ts';
import { type StoreOperation, storeOperations } from '../stores/kit/store-operations.ts';
import type { StoreRecord } from '../stores/memory/store-model.ts';
import { packageRoot } from '../support/child-program.ts';
import { outcomes } from '../support/outcomes.ts';
import { rowsAfter, rowsOf } from '../support/table-rows.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const page = read('docs/how-it-works.md');

interface Transition {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** The few words of Mermaid that the page uses; anything else is a mistake. */
function transitionsOf(diagram: string): Transition[] {
  const [kind, ...lines] = diagram.trimEnd().split('\n');
  expect(kind).toBe('stateDiagram-v2');
  return lines.map((line) => {
    const [, from = '', to = '', label = ''] =
      /^ {2}(\[\*\]|[a-z]+) --> (\[\*\]|[a-z]+)(?:: ([A-Za-z,() ]+))?$/.exec(line) ?? [];
    expect(from, `a line that is no transition: ${line}`).not.toBe('');
    for (const name of [from, to]) expect(RESERVED).not.toContain(name);
    return { from, to, label };
  });
}

/** What Mermaid takes for something else than the name of a state. */
const RESERVED = ['as', 'class', 'default', 'direction', 'end', 'hide', 'note', 'scale', 'state', 'style'];
const OUTSIDE = '[*]';

const diagrams = Array.from(page.matchAll(/^```mermaid\n(.*?)^```$/gms), ([, text = '']) => text);
const [ofRun = [], ofStore = []] = diagrams.map(transitionsOf);

function statesOf(transitions: readonly Transition[]): string[] {
  const names = new Set(transitions.flatMap(({ from, to }) => [from, to]));
  return [...names].filter((name) => name !== OUTSIDE).sort();
}

test('there are two diagrams', () => {
  expect(diagrams).toHaveLength(2);
});

describe('the diagram of a run', () => {
  test('is that of the table of its steps', () => {
    expect(diagrams[0]).toBe(diagramOfSteps());
  });

  test('leads from the beginning to each step, and from each to an end', () => {
    const reached = (start: string, next: (name: string) => string[]): string[] => {
      const seen = new Set([start]);
      for (const name of seen) for (const found of next(name)) seen.add(found);
      return [...seen].filter((name) => name !== OUTSIDE).sort();
    };
    const after = (name: string) => ofRun.filter(({ from }) => from === name).map(({ to }) => to);
    const before = (name: string) => ofRun.filter(({ to }) => to === name).map(({ from }) => from);
    expect(reached(OUTSIDE, after)).toEqual(statesOf(ofRun));
    expect(reached(OUTSIDE, before)).toEqual(statesOf(ofRun));
  });
});

const LEASE_MS = 1_000;
const RETENTION_MS = 10_000;
const LEASE_ENDS = 'the lease ends';
const RETENTION_ENDS = 'the retention ends';

type Token = 'own' | 'another';
type Command =
  | typeof LEASE_ENDS
  | typeof RETENTION_ENDS
  | { readonly operation: StoreOperation; readonly token: Token };

const by = (token: Token, operation: StoreOperation): Command => ({ operation, token });

/** How a real memory store gets into each state. */
const ways: Record<StoreRecord['state'] | 'expired', readonly Command[]> = {
  absent: [],
  processing: [by('own', 'claim')],
  expired: [by('own', 'claim'), LEASE_ENDS],
  released: [by('own', 'claim'), by('own', 'release')],
  completed: [by('own', 'complete')],
};

/** The store after some commands, and what it answered last. */
async function after(commands: readonly Command[]): Promise<{ store: Store; answer: string }> {
  let now = 0;
  let answer = '';
  const store = createMemoryStore({ now: () => now });
  for (const command of commands) {
    if (command === LEASE_ENDS) now += LEASE_MS;
    else if (command === RETENTION_ENDS) now += RETENTION_MS;
    else answer = (await store[command.operation](requestOf(command.token))).state;
  }
  return { store, answer };
}

function requestOf(token: string) {
  return { id: 'evt_1', token, leaseMs: LEASE_MS, retentionMs: RETENTION_MS, handled: [] };
}

/** Asks by a claim, which changes the state: the store is not used afterwards. */
async function stateAfter(commands: readonly Command[]): Promise<string> {
  const { store } = await after(commands);
  const claim = await store.claim(requestOf('question'));
  if (claim.state === 'busy') return 'processing';
  if (claim.state === 'completed') return 'completed';
  if (claim.attempt === 1) return 'absent';
  return claim.abandoned > 0 ? 'expired' : 'released';
}

describe('the diagram of an id', () => {
  test('has the transitions of the memory store, and no others', async () => {
    const found: string[] = [];
    for (const [from, way] of Object.entries(ways)) {
      expect(await stateAfter(way)).toBe(from);
      const labels = new Map<string, string[]>();
      const note = (to: string, label: string) => labels.set(to, [...(labels.get(to) ?? []), label]);
      for (const operation of storeOperations) {
        const own = await stateAfter([...way, by('own', operation)]);
        const another = await stateAfter([...way, by('another', operation)]);
        if (own === another) note(own, operation);
        else {
          note(own, `own ${operation}`);
          note(another, `another ${operation}`);
        }
      }
      // The retention is never over before the lease.
      const time = from === 'processing' ? LEASE_ENDS : RETENTION_ENDS;
      note(await stateAfter([...way, time]), time);
      labels.delete(from);
      for (const [to, names] of labels) found.push(`${from} --> ${to}: ${names.join(', ')}`);
    }
    const drawn = ofStore.filter(({ from }) => from !== OUTSIDE);
    expect(drawn.map(({ from, to, label }) => `${from} --> ${to}: ${label}`).sort()).toEqual(found.sort());
    expect(ofStore.filter(({ from }) => from === OUTSIDE)).toEqual([
      { from: OUTSIDE, to: 'absent', label: '' },
    ]);
  });

  test('is followed by the answer of each operation in each state', async () => {
    const columns: readonly StoreOperation[] = ['claim', 'renew', 'release', 'complete'];
    expect(page).toContain(`| in this state | ${columns.join(' | ')} |`);
    const rows = new Map(rowsOf('docs/how-it-works.md').map(([name = '', ...answers]) => [name, answers]));
    for (const [state, way] of Object.entries(ways)) {
      const hasOwner = state !== 'absent' && state !== 'completed';
      for (const token of ['own', 'another'] as const) {
        const answers: string[] = [];
        for (const operation of columns) answers.push((await after([...way, by(token, operation)])).answer);
        const name = hasOwner ? `${state}, ${token} token` : state;
        expect(rows.get(name), name).toEqual(answers);
      }
    }
  });
});

test('each outcome is told', () => {
  const [, way = ''] = /^## From byte to answer$(.*?)^## /ms.exec(page) ?? [];
  expect(outcomes.filter((outcome) => !way.includes(`\`${outcome}\``))).toEqual([]);
});

test('the promises on the page are among those that the simulation checks', () => {
  const [, told = ''] = /^Some of the promises .*?:\n\n(.*?)\n\n/ms.exec(page) ?? [];
  const promises = told.split('\n');
  expect(promises.length).toBeGreaterThan(5);
  expect(promiseTexts.map((promise) => `- ${promise}`)).toEqual(expect.arrayContaining(promises));
});

test('each fault on the page is a row of the table with the tests', () => {
  const head = '| fault | what the sender sees |';
  const faults = rowsAfter(page, head).map((cells) => cells.join(' | '));
  const tested = rowsAfter(read('test/faults.md'), head).map((cells) => cells.slice(0, 4).join(' | '));
  expect(faults.length).toBeGreaterThan(10);
  expect(tested).toEqual(expect.arrayContaining(faults));
});
