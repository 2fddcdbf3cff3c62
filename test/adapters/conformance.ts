import { describe } from 'vitest';
import { acceptedAnswers } from './accepted-answers.ts';
import type { Mount } from './endpoint.ts';
import { failedAnswers } from './failed-answers.ts';
import { hostileNetwork } from './hostile.ts';
import { parkedAnswers } from './parked-answers.ts';
import { refusedAnswers } from './refused-answers.ts';

/** What every adapter must do: each row of the table of answers, over a real socket. */
export function conformance(mount: Mount): void {
  describe('accepted', () => acceptedAnswers(mount));
  describe('refused', () => refusedAnswers(mount));
  describe('failed', () => failedAnswers(mount));
  describe('parked', () => parkedAnswers(mount));
  describe('a hostile network', () => hostileNetwork(mount));
}
