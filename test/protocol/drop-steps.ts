import { brokenByDropping } from './promises.ts';
import { Steps } from './steps.ts';
import { LEASE_TICKS } from './store-model.ts';

const TOKEN = 'drop';

/**
 * A drop of the letter, in a process of its own: the way through `src/handling/drop.ts`. Its completion is
 * sent on a claim that is not old, and arrives before the lease can end.
 */
export class DropSteps extends Steps {
  protected override collect(): void {
    const { drop } = this.state;
    switch (drop.step) {
      case 'possible':
        this.#begin();
        break;
      case 'claiming':
        this.#claim();
        break;
      case 'reading':
        this.#renew();
        this.#read();
        break;
      case 'ready':
        this.#renew();
        this.#complete();
        break;
      case 'removing':
        this.add('step', 'the drop takes the letter out', (next) => {
          next.letter = 'none';
          next.drop = { ...next.drop, step: 'ended' };
        });
        break;
      case 'releasing':
        this.add('step', 'the drop gives the id back', (next) => {
          this.operate(next, 'release', TOKEN);
          next.drop = { ...next.drop, step: 'ended' };
        });
        break;
      case 'ended':
        break;
    }
  }

  /** Somebody drops the letter, once, unless it says that its event may still be running. */
  #begin(): void {
    if (this.state.letter === 'none' || this.#isMarked()) return;
    const isClaimed = this.mistake !== 'a drop completes an id that it has not claimed';
    this.add('option', 'the letter is dropped', (next) => {
      next.drop = { ...next.drop, step: isClaimed ? 'claiming' : 'ready' };
    });
  }

  /** A letter that was stored beside a run bears `runningUntil`, which ends after the run. */
  #isMarked(): boolean {
    const { letter, runs, deaf } = this.state;
    return letter !== 'over' && runs.length + deaf.length > 0;
  }

  #claim(): void {
    this.add('step', 'the drop is answered its claim', (next) => {
      const { state } = this.operate(next, 'claim', TOKEN);
      const step = ({ busy: 'ended', completed: 'removing' } as const)[String(state)] ?? 'reading';
      next.drop = { step, heldFor: next.drop.heldFor };
    });
  }

  #renew(): void {
    this.add('option', 'the drop renews its lease', (next) => {
      const { state } = this.operate(next, 'renew', TOKEN);
      if (state === 'held') next.drop = { ...next.drop, heldFor: 0 };
      else next.drop = { ...next.drop, step: 'releasing' };
    });
  }

  #read(): void {
    this.add('step', 'the drop reads the letter again', (next) => {
      const isThere = this.state.letter !== 'none' && !this.#isMarked();
      next.drop = { ...next.drop, step: isThere ? 'ready' : 'releasing' };
    });
  }

  #complete(): void {
    if (this.state.drop.heldFor > LEASE_TICKS / 2) return; // It renews first: see `#renew`.
    this.add('step', 'the drop completes the id', (next) => {
      next.broken = brokenByDropping(next);
      this.operate(next, 'complete', TOKEN);
      next.recorded = true;
      next.dropped = true;
      next.drop = { step: 'removing', heldFor: 0 };
    });
  }
}
