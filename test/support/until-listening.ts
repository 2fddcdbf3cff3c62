import { connect } from 'node:net';
import { until } from './until.ts';

/** Resolves once a server takes connections on a port of this machine. */
export async function untilListening(port: number): Promise<void> {
  await until(`a server listens on port ${port}`, () => isOpen(port));
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
