/**
 * For an answer that a test awaits later than it asks for it. A test that fails in between leaves the answer
 * behind; when that fails too, because its server ends with the test, that would be an unhandled rejection,
 * which fails the whole run. Who awaits the answer still gets its failure.
 */
export function awaitedLater<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  return answer;
}
