import { onTestFinished } from 'vitest';
import { RawConnection as Connection } from '../../src/testing/adapter-conformance/raw-connection.ts';

export { headOf } from '../../src/testing/adapter-conformance/raw-connection.ts';

/** A TCP connection that a test writes bytes to, and reads answers of HTTP/1.1 from. */
export type RawConnection = Connection;

export const RawConnection = {
  /** Closed at the end of the test. */
  open: async (url: string): Promise<RawConnection> => {
    const connection = await Connection.open(url);
    onTestFinished(() => connection.hangUp());
    return connection;
  },
};
