import { createMemoryStore, type Store } from 'posthorn';
import { storeConformance } from 'posthorn/testing';
import { test } from 'vitest';

/** A store that was written before `peek`: it reads nothing in a token, and no release refuses claims. */
function createFormerStore(): Store {
  const { claim, renew, complete, release } = createMemoryStore();
  const plain = <Request extends { readonly token: string }>(request: Request) => ({
    ...request,
    token: `former ${request.token}`,
    refuseClaimsMs: undefined,
  });
  return {
    claim: (request) => claim(plain(request)),
    renew: (request) => renew(plain(request)),
    complete,
    release: (request) => release(plain(request)),
  };
}

test.each(storeConformance(createFormerStore))('a store without peek passes: $name', ({ run }) => run());
