import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createReceiver, type DeadLetter } from 'posthorn';
import { type NodeOperatorHandler, toNodeOperator } from 'posthorn/operator';
import { expect, onTestFinished, test, vi } from 'vitest';
import { replay } from '../../examples/operator/replay.ts';
import { createOperatorDocument } from '../../src/operator/openapi.ts';
import { problems } from '../../src/operator/problem.ts';
import { routes } from '../../src/operator/routes.ts';
import { packageRoot } from '../support/child-program.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import { rowsOf } from '../support/table-rows.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'docs/operator.md';

const rows = rowsOf(PAGE);

/** The module of the example keeps dead letters in the current directory. */
const RECEIVER = `import { createReceiver } from 'posthorn';
export const receiver = createReceiver({ signingKey: '${KEY}' }).on('*', () => {});
`;

const namesIn = (cell = ''): string[] => Array.from(cell.matchAll(/`(\w+)`/g), ([, name = '']) => name);

test('the page lists each problem with its status', () => {
  const codes = /`(forbidden|[a-z]+(?:_[a-z]+)+)`/g;
  const listed = rows
    .filter(([status]) => /^\d{3}$/.test(status ?? ''))
    .flatMap(([status, cell = '']) => Array.from(cell.matchAll(codes), ([, code]) => [code, Number(status)]));
  expect(listed).toEqual(Object.entries(problems).map(([code, [status]]) => [code, status]));
});

/** By operation of the OpenAPI document, the names of its parameters and of the members of its body. */
function operations(): ReadonlyMap<string, readonly string[]> {
  const { paths, components } = JSON.parse(JSON.stringify(createOperatorDocument(routes, '/operator')));
  return new Map(
    routes.map(({ method, path }) => {
      const { parameters, requestBody } = paths[path][method.toLowerCase()];
      const reference: string = requestBody?.content['application/json'].schema.$ref ?? '';
      const { properties = {} } = components.schemas[reference.replace(/.*\//, '')] ?? {};
      const named: readonly { readonly name: string }[] = parameters;
      const names = [
        ...named.map(({ name }) => name).filter((name) => name !== 'id' && name !== 'receiver'),
        // `next` of an answer has the place at which a deed goes on.
        ...Object.keys(properties).filter((name) => name !== 'after' && name !== 'parkedAt'),
        ...Object.keys(properties.selection?.properties ?? {}),
      ];
      return [`\`${method} ${path}\``, [...new Set(names)].sort()];
    }),
  );
}

test('the page lists each path with its parameters', () => {
  const listed = rows.filter(([path]) => /^`(GET|POST) /.test(path ?? ''));
  const cells = listed.map(([path = '', cell = ''], index): [string, readonly string[]] => {
    const names = namesIn(cell === 'the same' ? listed[index - 1]?.[1] : cell);
    return [path, [...new Set(names)].sort()];
  });
  expect(new Map(cells)).toEqual(operations());
});

/** Imports the mount of examples/operator anew, beside a receiver, because it reads the environment. */
async function importMount(): Promise<{ readonly operator: NodeOperatorHandler }> {
  const directory = temporaryDirectory(packageRoot);
  const file = join(directory, 'operator.ts');
  copyFileSync(join(packageRoot, 'examples', 'operator', 'operator.ts'), file);
  writeFileSync(join(directory, 'receiver.ts'), RECEIVER);
  return import(pathToFileURL(file).href);
}

test('examples/operator names the person of a token, and nobody if the environment has none', async () => {
  const ask = async (expected: string | undefined, sent: string | undefined) => {
    vi.stubEnv('BEN_TOKEN', expected);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { operator } = await importMount();
    const origin = await listenUntilTheEnd(operator);
    const headers: Record<string, string> = sent === undefined ? {} : { authorization: `Bearer ${sent}` };
    const answer = await fetch(`${origin}/operator/api/receivers`, { headers });
    return answer.ok ? JSON.parse(await answer.text()).operator.name : answer.status;
  };
  expect(await ask('secret', 'secret')).toBe('ben');
  expect(await ask('secret', 'another')).toBe(403);
  expect(await ask('secret', undefined)).toBe(403);
  expect(await ask(undefined, 'undefined')).toBe(403);
  expect(await ask(undefined, '')).toBe(403);
  expect(await ask('', '')).toBe(403);
});

function letter(number: number): DeadLetter {
  const id = `evt_${String(number).padStart(2, '0')}`;
  const body = { id, type: 'transfer.succeeded', created_at: new Date().toISOString(), data: {} };
  const times = { receivedAt: Date.now(), parkedAt: Date.now() - 1_000 + number };
  const rawBody = Buffer.from(JSON.stringify(body));
  const parked = { reason: 'handler_failed', message: 'it failed', attempts: 4, handled: [] };
  return { id, type: body.type, rawBody, headers: {}, ...times, ...parked };
}

test('examples/operator replays all that a selection has, in portions', async () => {
  const deadLetters = createMapDeadLetters();
  for (let number = 1; number <= 45; number += 1) await deadLetters.put(letter(number));
  const handled: string[] = [];
  const receiver = createReceiver({ signingKey: KEY, deadLetters });
  receiver.on('*', ({ id }) => handled.push(id)).observe(() => {});
  silenced('info');
  const audit = vi.fn();
  const authorize = ({ headers }: Request) =>
    headers.get('authorization') === 'Bearer anna' && { name: 'anna' };
  const origin = await listenUntilTheEnd(toNodeOperator(receiver, { path: '/operator', authorize, audit }));

  const printed = vi.spyOn(console, 'log').mockReturnValue();
  await replay(`${origin}/operator`, { authorization: 'Bearer anna' }, { type: 'transfer.*' });
  expect(printed.mock.calls).toHaveLength(45);
  printed.mockRestore();
  expect(handled).toEqual(Array.from({ length: 45 }, (_, index) => letter(index + 1).id));
  expect(audit.mock.calls.map(([{ ids }]) => ids.length)).toEqual([20, 20, 5]);
  await expect(replay(`${origin}/operator`, {}, {})).rejects.toThrow('does not know the sender');
});
