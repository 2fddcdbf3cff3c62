/** The dialog of a deed, which counts before it asks, and says how far it is and what is left. */
export const deedScript: string = `
/**
 * @typedef {{
 *   title: string, verb: string, warning: string, path: string, body: object,
 *   fields?: HTMLElement, bodyOf?: () => object,
 * }} Plan
 */

const dialog = dialogOf('deed');

/** @param {string} id */
function dialogOf(id) {
  const found = byId(id);
  if (!(found instanceof HTMLDialogElement)) throw new Error(id + ' is not a dialog');
  return found;
}

/** One deed, from its count to its end. */
class Deed {
  isStopping = false;
  isRunning = false;
  isChanged = false;
  total = 0;
  /** @type {Result[]} */
  results = [];
  title = heading('');
  text = element('div', '');
  progress = document.createElement('progress');
  failures = element('ul', 'list');
  actions = element('p', 'actions');

  /** @param {Plan} plan */
  constructor(plan) {
    this.plan = plan;
    this.title.id = 'deed-title';
    setText(this.title, plan.title);
    this.text.setAttribute('role', 'status');
    this.progress.setAttribute('aria-label', plan.title);
    this.progress.hidden = true;
  }

  open() {
    dialog.replaceChildren(this.title, element('p', '', this.plan.warning),
      ...(this.plan.fields ? [this.plan.fields] : []), this.text, this.progress, this.actions, this.failures);
    dialog.oncancel = (event) => {
      if (!this.isRunning) return;
      event.preventDefault();
      this.stop();
    };
    dialog.onclose = () => {
      if (this.isChanged) void show();
    };
    dialog.showModal();
    // What is counted is what is done: other fields are counted anew.
    this.plan.fields?.addEventListener('input', () => this.ask());
    if (this.plan.fields === undefined) void this.count();
    else this.ask();
  }

  ask() {
    this.tell();
    this.actions.replaceChildren(
      button('Count', '', () => void this.count()),
      button('Cancel', '', () => dialog.close()),
    );
  }

  /** @param {[string, () => void][]} choices */
  offer(...choices) {
    this.actions.replaceChildren(...choices.map(([text, onClick]) => button(text, '', onClick)));
    // The button that had the focus is gone. None gets it: a second press of a key would be a deed.
    if (dialog.open) this.title.focus();
  }

  /** @param {(string | Node)[]} parts */
  tell(...parts) {
    this.text.replaceChildren(...parts);
  }

  async count() {
    const body = this.plan.bodyOf?.() ?? this.plan.body;
    this.begin('Counting…');
    if (this.plan.fields !== undefined) this.plan.fields.inert = true;
    /** @type {Forecast} */
    const all = { count: 0, counts: [] };
    try {
      await this.portions({ ...body, dryRun: true }, (/** @type {Forecast} */ answer) => addForecast(all, answer));
    } catch (error) {
      this.tell(problemPart(error));
      this.offer(['Count again', () => void this.count()], ['Cancel', () => dialog.close()]);
      return;
    } finally {
      this.isRunning = false;
      if (this.plan.fields !== undefined) this.plan.fields.inert = false;
    }
    this.total = all.count;
    this.tell(...forecastParts(all, this.isStopping));
    const fixed = all.selection === undefined ? body : { ...body, selection: all.selection };
    if (all.count === 0) this.offer(['Close', () => dialog.close()]);
    else this.offer([this.plan.verb + ' ' + all.count, () => void this.run(fixed)], ['Cancel', () => dialog.close()]);
  }

  /** @param {string} text */
  begin(text) {
    this.isStopping = false;
    this.isRunning = true;
    this.tell(text);
    this.offer(['Stop', () => this.stop()]);
  }

  stop() {
    this.isStopping = true;
    this.offer();
    this.tell('Stopping after the current portion, which may take 20 seconds…');
  }

  /**
   * Sends one request after the other. Returns the body of the next one, if it was stopped.
   * @template {{ next?: object }} T
   * @param {object | undefined} body
   * @param {(answer: T, body: object) => void} onAnswer
   */
  async portions(body, onAnswer) {
    let next = body;
    while (next !== undefined && !this.isStopping) {
      /** @type {T} */
      const answer = await post(this.plan.path, next);
      onAnswer(answer, next);
      next = answer.next;
    }
    return next;
  }

  /** @param {object} body */
  async run(body) {
    this.plan.fields?.remove();
    this.begin('');
    this.isChanged = true;
    this.progress.hidden = false;
    /** @type {object | undefined} */
    let left = body;
    try {
      left = await this.portions(body, (/** @type {DeedEnd} */ answer) => {
        left = answer.next;
        this.add(answer);
      });
      this.end(left);
    } catch (error) {
      // The request may have been done: sent again, it does nothing twice.
      this.end(left, error);
    }
  }

  /** @param {DeedEnd} answer */
  add({ results, stopped }) {
    this.results.push(...results);
    const failures = results.filter(({ outcome }) => !GOOD_ENDS.has(outcome));
    this.failures.append(...failures.map(resultItem));
    this.progress.max = Math.max(this.total, this.results.length);
    this.progress.value = this.results.length;
    this.tell(countText(this.results) + ' of ' + this.total + '.');
    if (stopped !== undefined) throw new RequestError(stopped.message, stopped.code);
  }

  /**
   * @param {object | undefined} left
   * @param {unknown} [error]
   */
  end(left, error) {
    this.isRunning = false;
    const rest = Math.max(0, this.total - this.results.length);
    const end = left === undefined ? 'Done: ' : 'Stopped: ';
    const some = rest === 0 ? ' Some may be left.' : ' ' + counted(rest, 'event') + ' left.';
    const remains = left === undefined ? '' : some;
    this.tell(...(error === undefined ? [] : [problemPart(error)]),
      element('p', '', end + countText(this.results) + '.' + remains));
    if (left === undefined) this.offer(['Close', () => dialog.close()]);
    else this.offer(['Go on', () => void this.run(left)], ['Close', () => dialog.close()]);
  }
}

/** @param {object} choice */
function replayDeed(choice) {
  new Deed({
    title: 'Replay dead letters', verb: 'Replay', path: 'dead-letters/replay', body: choice,
    warning: 'Handlers that have not finished run now, in this application.',
  }).open();
}

/** @param {object} choice */
function dropDeed(choice) {
  new Deed({
    title: 'Drop dead letters', verb: 'Drop', path: 'dead-letters/drop', body: choice,
    warning: 'The events are given up for good: no handler will ever get them.',
  }).open();
}
`;
