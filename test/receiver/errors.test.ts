import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import * as posthorn from 'posthorn';
import {
  type AbortedError,
  type AnyPosthornError,
  type ConfigurationError,
  type ErrorCode,
  EventError,
  PermanentError,
  PosthornError,
  type Report,
  type ReportCode,
  SignatureError,
  type UnavailableError,
  type WarningCode,
} from 'posthorn';
import { ServiceError } from 'posthorn/client';
import type { InboxError } from 'posthorn/postgres';
import { RefusedError } from 'posthorn/sandbox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { errorCodes } from '../../src/receiver/error-codes.ts';
import { refuse, statusOf } from '../../src/receiver/outcomes/outcome.ts';
import { warningCodes } from '../../src/receiver/outcomes/report.ts';
import { isReportCode } from '../../src/receiver/refusals.ts';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const [errors = '', warnings = ''] = page.split('## Warnings');

/** The cells of the rows that begin with a code; a cell that is a code or a class without its quotes. */
function rowsOf(text: string): string[][] {
  const rows = text.match(/^\| `.*\|$/gm) ?? [];
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim().replace(/^`(\w+)`$/, '$1')),
  );
}

describe('docs/errors.md', () => {
  test('has one row for each error code, with its class, its meaning and what to do', () => {
    const rows = rowsOf(errors);
    for (const row of rows) {
      const cells = isReportCode(row[0] ?? '') ? 5 : 4;
      expect(row).toEqual(Array(cells).fill(expect.stringMatching(/^.{4,}/)));
    }
    const codes = Object.entries(errorCodes).flatMap(([name, list]) => list.map((code) => [code, name]));
    expect(rows.map(([code, name]) => [code, name]).sort()).toEqual(codes.sort());
  });

  test('has the answer to each delivery, by its code', () => {
    const codes = Object.values(errorCodes).flat().filter(isReportCode);
    const answers = codes.map((code) => {
      const error = new PosthornError(code, 'm');
      const answer = refuse(error);
      expect(error.status).toBe(statusOf(answer));
      return [code, `${statusOf(answer)} \`${answer.outcome}\``];
    });
    const told = rowsOf(errors).filter(([code = '']) => isReportCode(code));
    expect(told.map(([code, , answer]) => [code, answer]).sort()).toEqual(answers.sort());
  });

  test('has one row for each warning, with its meaning and what to do', () => {
    const rows = rowsOf(warnings);
    for (const row of rows) expect(row).toEqual(Array(3).fill(expect.stringMatching(/^.{4,}/)));
    expect(rows.map(([code]) => code).sort()).toEqual([...warningCodes].sort());
  });
});

test('each code belongs to one class', () => {
  const codes = Object.values(errorCodes).flat();
  expect(new Set(codes).size).toBe(codes.length);
});

describe('the status of an error', () => {
  test('is a number in the classes whose every code is an answer, and may be absent in the others', () => {
    expectTypeOf<SignatureError['status']>().toEqualTypeOf<number>();
    expectTypeOf<EventError['status']>().toEqualTypeOf<number>();
    expectTypeOf<UnavailableError['status']>().toEqualTypeOf<number>();
    expectTypeOf<ConfigurationError['status']>().toEqualTypeOf<number>();
    expectTypeOf<PosthornError['status']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<AbortedError['status']>().toEqualTypeOf<number | undefined>();
    for (const [name, codes] of Object.entries(errorCodes)) {
      const answered = codes.filter(isReportCode);
      const mayBeAbsent = ['PermanentError', 'AbortedError', 'DeadLetterError', 'JournalError', 'InboxError'];
      if (![...mayBeAbsent, 'ServiceError', 'RefusedError'].includes(name)) expect(answered).toEqual(codes);
    }
    expect(new PermanentError('m').status).toBeUndefined();
  });

  test('stays out of logs and of JSON', () => {
    const error = new SignatureError('signature_missing', 'm');
    expect(error.status).toBe(403);
    // As middleware of a framework does.
    expect(Object.assign(new PermanentError('m'), { status: 422 }).status).toBe(422);
    expect(JSON.parse(JSON.stringify(error))).toEqual({ name: 'SignatureError', code: 'signature_missing' });
    expect(inspect(error)).not.toContain('status');
  });

  test('of the service or of the sandbox is that of its answer', () => {
    const refused = new ServiceError('service_refused', 'gone', { status: 404 });
    expect(refused.status).toBe(404);
    expect(JSON.parse(JSON.stringify(refused))).toMatchObject({ status: 404 });
    expect(new ServiceError('service_timeout', 'late').status).toBeUndefined();
    expect(new RefusedError(409, 'm').status).toBe(409);
  });
});

test('each class of errors has the mark by which another copy of posthorn knows it', () => {
  const classes = Object.entries(posthorn).filter(([name]) => name.endsWith('Error') && /^[A-Z]/.test(name));
  expect(classes.map(([name]) => name)).toContain('JournalError');
  const marks = ([name, type]: [string, object]) =>
    Object.getOwnPropertySymbols(Reflect.get(type, 'prototype')).includes(Symbol.for(`posthorn.${name}`));
  expect(classes.filter((entry) => !marks(entry)).map(([name]) => name)).toEqual([]);
});

describe('codes are types:', () => {
  test('that of any error of ours, whatever instanceof makes of it', () => {
    const error: unknown = new SignatureError('signature_missing', 'm');
    expect(error instanceof PosthornError).toBe(true);
    if (error instanceof PosthornError) expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
    if (error instanceof SignatureError) {
      type Code =
        | 'signature_missing'
        | 'signature_repeated'
        | 'signature_malformed'
        | 'signature_mismatch'
        | 'signature_expired';
      expectTypeOf(error.code).toEqualTypeOf<Code>();
    }
    // @ts-expect-error a code of another class
    expect(new SignatureError('body_timeout', 'm')).toBeInstanceOf(SignatureError);
  });

  test('that of a report, and of its error', () => {
    expectTypeOf<Report['code']>().toEqualTypeOf<ReportCode | undefined>();
    expectTypeOf<NonNullable<Report['error']>['code']>().toEqualTypeOf<ReportCode>();
    expectTypeOf<ReportCode>().toExtend<ErrorCode>();
    // Neither is the error of a delivery.
    expectTypeOf<'permanent'>().not.toExtend<ReportCode>();
    expectTypeOf<'service_refused'>().not.toExtend<ReportCode>();
    expectTypeOf<'event_runing'>().not.toExtend<ErrorCode>();
  });

  test('a switch over report.code knows its cases, and whether one is missing', () => {
    function explain({ code }: Pick<Report, 'code'>): string {
      switch (code) {
        case undefined:
          return 'handled';
        case 'not_found':
        case 'account_unknown':
        case 'method_not_allowed':
        case 'credentials_invalid':
        case 'signature_missing':
        case 'signature_repeated':
        case 'signature_malformed':
        case 'signature_mismatch':
        case 'signature_expired':
        case 'encoding_unsupported':
        case 'body_too_large':
        case 'body_timeout':
        case 'body_incomplete':
        case 'body_not_json':
        case 'envelope_invalid':
        case 'event_too_old':
        case 'event_in_future':
        case 'body_missing':
        case 'handler_unfinished':
          return 'rejected';
        case 'handler_failed':
        case 'handler_failed_permanently':
        case 'data_invalid':
        case 'deadline_reached':
        case 'run_timeout':
        case 'run_closed':
        case 'run_abandoned':
          return 'the handlers failed';
        case 'event_running':
        case 'key_busy':
        case 'store_unavailable':
        case 'keys_unavailable':
        case 'buffer_full':
        case 'queue_unavailable':
        case 'too_many_running':
        case 'job_unreadable':
        case 'handler_missing':
        case 'provider_mismatch':
        case 'closing':
          return 'later';
        case 'no_handlers':
        case 'body_already_parsed':
        case 'configuration_invalid':
        case 'internal_error':
          return 'the program is wrong';
        // @ts-expect-error no such code
        case 'body_to_large':
          return '';
        default:
          expectTypeOf(code).toBeNever();
          return '';
      }
    }
    expect(explain({ code: 'closing' })).toBe('later');
  });

  test('a switch over the code of any error narrows its class, and knows the cases that are missing', () => {
    expectTypeOf<AnyPosthornError['code']>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<AnyPosthornError>().toExtend<PosthornError>();
    expectTypeOf<ServiceError | RefusedError | InboxError>().toExtend<AnyPosthornError>();

    function show(error: AnyPosthornError): unknown {
      switch (error.code) {
        case 'event_too_old':
          expectTypeOf(error).toEqualTypeOf<EventError>();
          return error.event.id;
        case 'data_invalid':
          return error.issues;
        case 'service_refused':
          return error.status;
        // @ts-expect-error no such code
        case 'event_to_old':
          return undefined;
        default:
          expectTypeOf(error.code).toEqualTypeOf<
            Exclude<ErrorCode, 'event_too_old' | 'data_invalid' | 'service_refused'>
          >();
          return error.code;
      }
    }
    expect(show(new EventError('event_too_old', 'm', { id: 'e1' }))).toBe('e1');
    expect(show(new ServiceError('service_refused', 'm', { status: 404 }))).toBe(404);
    expect(show(new PermanentError('m'))).toBe('permanent');
  });

  test('that of a warning', () => {
    expectTypeOf<Report['warnings'][number]>().toEqualTypeOf<`${WarningCode}: ${string}`>();
    expectTypeOf<'lease_lots'>().not.toExtend<WarningCode>();
  });
});
