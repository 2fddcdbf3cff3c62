/** A function that throws each time it is called: this error, or one of this message. */
export function throwing(error: Error | string): () => never {
  return () => {
    throw typeof error === 'string' ? new Error(error) : error;
  };
}
