import { nodeRedis5 } from './drivers.ts';
import { describeTroubles, names } from './troubles.ts';

// Its Cluster is refused.
describeTroubles(
  nodeRedis5,
  names.filter((name) => !name.endsWith('in a Cluster')),
);
