import { refusal, sendAnswer } from './answer.ts';
import type { Endpoint } from './endpoint.ts';
import { refuseForeignRequest } from './foreign-requests.ts';
import type { MountedRequest } from './mounted-request.ts';
import { route } from './route.ts';
import type { SandboxApp } from './sandbox.ts';

/** Creates the application. `listeningHost` returns the host that it listens on, if it listens. */
export function createApp(
  endpoints: readonly Endpoint[],
  listeningHost: () => string | undefined,
): SandboxApp {
  return async (request: MountedRequest, response) => {
    try {
      refuseForeignRequest(request, listeningHost());
      sendAnswer(response, await route(endpoints, request));
    } catch (error) {
      sendAnswer(response, refusal(error));
    }
  };
}
