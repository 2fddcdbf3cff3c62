import type { IncomingMessage } from 'node:http';
import express from 'express';
import type { Receiver } from 'posthorn';
import {
  type EventContent,
  type Operable,
  type OperatorDeed,
  type OperatorIdentity,
  type OperatorOptions,
  toNodeOperator,
  toOperator,
} from 'posthorn/operator';
import { describe, expectTypeOf, test } from 'vitest';
import { ada } from './mounts.ts';
import { createOperated } from './operated.ts';

interface WithUser extends express.Request {
  readonly user?: { readonly email: string };
}

describe('toOperator', () => {
  test('takes a Request, and gives a promise of a Response', () => {
    const { receiver } = createOperated();
    const handle = toOperator(receiver, {
      path: '/operator',
      authorize: (request) => {
        expectTypeOf(request).toEqualTypeOf<Request>();
        return { name: 'ada' };
      },
    });
    expectTypeOf(handle).toEqualTypeOf<(request: Request) => Promise<Response>>();
    expectTypeOf<Receiver>().toExtend<Operable>();
    toOperator({ payments: receiver }, ada);
  });

  test('hands on to authorize what its caller adds', () => {
    const { receiver } = createOperated();
    const authorize = (_request: Request, { session }: { readonly session: string }) => ({ name: session });
    const handle = toOperator(receiver, { path: '/operator', authorize });
    expectTypeOf(handle).parameters.toEqualTypeOf<[Request, { readonly session: string }]>();
  });

  test('requires path and authorize, and refuses what they may not be', () => {
    const check = (_: () => unknown): void => {};
    const { receiver } = createOperated();
    // @ts-expect-error nobody says who may use it
    check(() => toOperator(receiver, { path: '/operator' }));
    // @ts-expect-error no path
    check(() => toOperator(receiver, { authorize: () => ({ name: 'ada' }) }));
    // @ts-expect-error true names nobody
    check(() => toOperator(receiver, { path: '/operator', authorize: () => true }));
    // @ts-expect-error bodies is true or false
    check(() => toOperator(receiver, { ...ada, authorize: () => ({ name: 'ada', bodies: 'yes' }) }));
    // @ts-expect-error an unknown option
    check(() => toOperator(receiver, { ...ada, cors: true }));
    // @ts-expect-error a mask gives texts
    check(() => toOperator(receiver, { ...ada, mask: () => undefined }));
    // @ts-expect-error not a receiver
    check(() => toOperator({ receive: () => {} }, ada));
  });
});

describe('toNodeOperator', () => {
  test('gives authorize the request of the framework', () => {
    const { receiver } = createOperated();
    express().use(
      toNodeOperator(receiver, {
        path: '/operator',
        authorize: (_request, { user }: WithUser) => user && { name: user.email },
      }),
    );
    toNodeOperator(receiver, {
      path: '/operator',
      authorize: (_request, request: IncomingMessage) => {
        // @ts-expect-error a plain request has no user
        return request.user;
      },
    });
    const handle = toNodeOperator(receiver, {
      path: '/operator',
      authorize: (_request, { user }: WithUser) => user && { name: user.email },
    });
    expectTypeOf(handle).parameter(0).toEqualTypeOf<WithUser>();
    expectTypeOf(handle).returns.toEqualTypeOf<void>();
  });
});

test('the options have their types', () => {
  expectTypeOf<OperatorIdentity>().toEqualTypeOf<{
    readonly name: string;
    readonly bodies?: boolean | undefined;
  }>();
  expectTypeOf<OperatorDeed['deed']>().toEqualTypeOf<'replay' | 'drop' | 'rerun'>();
  expectTypeOf<OperatorDeed['ids']>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<Parameters<NonNullable<OperatorOptions['mask']>>>().toEqualTypeOf<[EventContent]>();
  expectTypeOf<ReturnType<NonNullable<OperatorOptions['audit']>>>().toBeUnknown();
});
