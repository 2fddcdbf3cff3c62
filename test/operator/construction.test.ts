import { createMemoryStore, createReceiver } from 'posthorn';
import { toNodeOperator, toOperator } from 'posthorn/operator';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/error-of.ts';
import { KEY } from '../support/served.ts';
import { ada } from './mounts.ts';
import { createOperated } from './operated.ts';

/** Functions of any form, as JavaScript calls them. */
const functions: readonly (readonly [name: string, create: (...given: readonly unknown[]) => unknown])[] = [
  ['toOperator', (...given) => Reflect.apply(toOperator, undefined, given)],
  ['toNodeOperator', (...given) => Reflect.apply(toNodeOperator, undefined, given)],
];

const invalid = (message: string | RegExp): object => errorOf('configuration_invalid', message);

/** Returns the value that a function throws. */
function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return 'nothing was thrown';
}

describe.each(functions)('%s', (name, create) => {
  test('throws without authorize, and says what could happen', () => {
    const { receiver } = createOperated();
    for (const options of [{ path: '/operator' }, { path: '/operator', authorize: undefined }])
      expect(thrownBy(() => create(receiver, options))).toMatchObject(
        invalid(new RegExp(`^${name} needs the option authorize.*anybody could replay and drop`)),
      );
  });

  const wrong: readonly (readonly [option: string, value: unknown])[] = [
    ...[undefined, 7, '', 'operator', '/operator?x', '/op#x', '/öp', '/%', '/%ff'].map(
      (value) => ['path', value] as const,
    ),
    ...[null, false, true, {}, 'ada'].map((value) => ['authorize', value] as const),
    ...[null, false, {}, 'log'].map((value) => ['audit', value] as const),
    ...[null, false, {}, 'x'].map((value) => ['mask', value] as const),
    ...[
      ...[null, 7, '', '*', 'null', 'backoffice.example', 'https://backoffice.example/'],
      ...['https://Backoffice.example', 'https://backoffice.example:443', 'https://a.example/x'],
      ...['file:///x', 'https://user@backoffice.example', ['https://backoffice.example']],
    ].map((value) => ['origin', value] as const),
  ];

  test.each(wrong)('refuses the option %s with the value %j, and names it', (option, value) => {
    const { receiver } = createOperated();
    expect(thrownBy(() => create(receiver, { ...ada, [option]: value }))).toMatchObject(invalid(option));
  });

  test('refuses an unknown option, and names those that there are', () => {
    const { receiver } = createOperated();
    expect(thrownBy(() => create(receiver, { ...ada, cors: true }))).toMatchObject(
      invalid(`"cors" is not an option of ${name}; its options are path, authorize, audit, origin, mask`),
    );
    for (const options of [undefined, null, 'x'])
      expect(thrownBy(() => create(receiver, options))).toMatchObject(invalid(name));
  });

  test('refuses what is not a receiver', () => {
    for (const value of [undefined, null, 7, 'receiver', () => {}, { receive: () => {} }])
      expect(thrownBy(() => create(value, ada))).toMatchObject(invalid(`${name} takes a receiver`));
  });

  test('refuses an object without receivers, and one with something else among them', () => {
    const { receiver } = createOperated();
    expect(thrownBy(() => create({}, ada))).toMatchObject(
      invalid(`${name} takes a receiver, or an object of receivers by name; got {}`),
    );
    for (const other of [undefined, null, {}, toOperator(receiver, ada)])
      expect(thrownBy(() => create({ payments: receiver, other }, ada))).toMatchObject(
        invalid(`${name} takes a receiver`),
      );
  });

  test('takes a receiver, also one that has had its first delivery, and several by name', async () => {
    const { receiver } = createOperated();
    await receiver.replay({
      ...{ id: 'evt_1', reason: 'x', message: 'x', rawBody: Buffer.from(''), headers: {} },
      ...{ receivedAt: 0, parkedAt: 0, attempts: 1, handled: [] },
    });
    expect(create(receiver, ada)).toBeTypeOf('function');
    const other = createReceiver({ signingKey: KEY, store: createMemoryStore() });
    expect(create({ payments: receiver, other }, ada)).toBeTypeOf('function');
  });
});

describe('a request of the wrong kind', () => {
  test('is refused, and the message names the other function', async () => {
    const { receiver } = createOperated();
    const handle: (request: never) => unknown = toOperator(receiver, ada);
    const handleNode: (...given: never[]) => unknown = toNodeOperator(receiver, ada);
    await expect(Reflect.apply(handle, undefined, [{ url: '/operator' }])).rejects.toMatchObject(
      invalid('toNodeOperator'),
    );
    expect(thrownBy(() => Reflect.apply(handleNode, undefined, [new Request('http://a/')]))).toMatchObject(
      invalid('takes a request and a response of Node.js'),
    );
  });
});
