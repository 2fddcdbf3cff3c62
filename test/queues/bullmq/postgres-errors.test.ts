import { describe, expect, test } from 'vitest';
import { isAboutOneJob, isPassing } from '../../../src/queues/bullmq/postgres/errors.ts';

/** An error as pg makes it of an answer of PostgreSQL. */
const answer = (code: string, severity = 'ERROR') => Object.assign(new Error('refused'), { code, severity });

describe('an error of the PostgreSQL of a queue', () => {
  test.each([
    ['a deadlock', answer('40P01')],
    ['a full disk', answer('53100')],
    ['too many connections', answer('53300', 'FATAL')],
    ['a shutdown', answer('57P01', 'FATAL')],
    ['a start', answer('57P03', 'FATAL')],
    ['a lost file', answer('58P01')],
    ['a replica', answer('25006')],
    ['a refused login', answer('28P01', 'FATAL')],
    ['a socket', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
    ['no answer in time', new Error('PostgreSQL gave no answer in time')],
    ['no error', undefined],
  ])('may pass: %s', (_what, error) => {
    expect([isPassing(error), isAboutOneJob(error)]).toEqual([true, false]);
  });

  test.each([
    ['a lost lock', answer('BM001'), true],
    ['a missing table', answer('42P01'), false],
    ['a missing privilege', answer('42501'), false],
    ['a wrong value', answer('22P02'), false],
    ['a failed transaction', answer('25P02'), false],
  ])('stays: %s', (_what, error, aboutOneJob) => {
    expect([isPassing(error), isAboutOneJob(error)]).toEqual([false, aboutOneJob]);
  });
});
