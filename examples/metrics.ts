import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { register } from 'prom-client';

/** Answers with the metrics of all receivers of the process. */
export const sendMetrics: RequestListener = (_request, response) => {
  register.metrics().then(
    (text) => response.setHeader('content-type', register.contentType).end(text),
    (error) => {
      console.error('metrics:', error);
      response.writeHead(500).end();
    },
  );
};

/** Serves the metrics of a worker, on `METRICS_PORT` or 3001. */
export function serveMetrics(): void {
  const server = createServer(sendMetrics).listen(Number(process.env.METRICS_PORT ?? 3001), () =>
    console.log(`working, metrics on http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`),
  );
}
