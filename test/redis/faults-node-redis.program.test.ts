import { nodeRedis6 } from './drivers.ts';
import { describeTroubles, names } from './troubles.ts';

describeTroubles(nodeRedis6, names);
