import { tests } from './running-test.ts';

/** A promise that stays pending until its test is over. Then it rejects, so that nobody waits on. */
export function unanswered(): Promise<never> {
  const answer = new Promise<never>((_, reject) => {
    tests.getStore()?.whenOver(() => reject(new Error('the test is over')));
  });
  answer.catch(() => {});
  return answer;
}
