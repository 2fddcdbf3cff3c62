/** The dialog of a deed, which counts before it asks, and says how far it is and what is left. */
export const deedScript: string = `
/**
 * @typedef {{
 *   title: string, verb: string, warning: string, path: string, body: DeedBody, receiver: string,
 *   fields?: HTMLFormElement, bodyOf?: () => DeedBody,
 * }} Plan
 * @typedef {{ ids?: string[], selection?: object, run?: string }} DeedBody
 */

/** One deed, from its count to its end. */
class Deed {
  // Each deed has one: the browser tells a little later that it was closed, and the next may be open then.
  dialog = document.createElement('dialog');
  isStopping = false;
  isRunning = false;
  isChanged = false;
  total = 0;
  /** @type {object | undefined} */
  left;
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
    this.dialog.setAttribute('aria-label', plan.title);
    this.dialog.addEventListener('close', () => this.closed());
    setText(this.title, plan.title);
    this.text.setAttribute('role', 'status');
    this.progress.setAttribute('aria-label', plan.title);
    this.progress.hidden = true;
  }

  open() {
    const { fields, receiver, warning } = this.plan;
    const of = receiver === '' ? '' : ' Receiver: ' + receiver + '.';
    this.dialog.replaceChildren(this.title, element('p', '', warning + of), ...(fields ? [fields] : []), this.text,
      this.progress, this.actions, this.failures);
    document.body.append(this.dialog);
    this.dialog.showModal();
    // Only what was counted is done, so changed fields are counted anew.
    this.plan.fields?.addEventListener('input', () => this.ask());
    if (this.plan.fields === undefined) void this.count();
    else this.ask();
  }

  /** The key Escape closes each dialog. One that does something stays, and stops. */
  closed() {
    this.isStopping = true;
    if (this.isRunning) {
      this.dialog.showModal();
      this.stop();
      return;
    }
    this.dialog.remove();
    if (this.isChanged) void show();
  }

  ask() {
    this.tell();
    this.actions.replaceChildren(
      button('Count', '', () => void this.count()),
      button('Cancel', '', () => this.dialog.close()),
    );
  }

  /** @param {[string, () => void][]} choices */
  offer(...choices) {
    this.actions.replaceChildren(...choices.map(([text, onClick]) => button(text, '', onClick)));
    // The button that had the focus is gone. None gets it: a second press of a key would be a deed.
    if (this.dialog.open) this.title.focus();
  }

  /** @param {(string | Node)[]} parts */
  tell(...parts) {
    this.text.replaceChildren(...parts);
  }

  async count() {
    const body = this.plan.bodyOf?.() ?? this.plan.body;
    this.isStopping = false;
    this.tell('Counting…');
    this.offer(['Cancel', () => this.dialog.close()]);
    if (this.plan.fields !== undefined) this.plan.fields.inert = true;
    /** @type {Forecast} */
    const all = { count: 0, counts: [] };
    try {
      await this.portions({ ...body, dryRun: true }, (/** @type {Forecast} */ answer) => addForecast(all, answer));
      if (!this.isStopping) this.confirm(body, all);
    } catch (error) {
      this.tell(problemPart(error));
      this.offer(['Count again', () => void this.count()], ['Cancel', () => this.dialog.close()]);
    } finally {
      if (this.plan.fields !== undefined) this.plan.fields.inert = false;
    }
  }

  /**
   * Asks if what was counted is to be done.
   * @param {DeedBody} body
   * @param {Forecast} all
   */
  confirm(body, all) {
    this.total = body.ids?.length ?? all.counts.reduce((sum, { count }) => sum + count, 0);
    this.left = all.selection === undefined ? body : { ...body, selection: all.selection };
    this.tell(...forecastParts(all, body));
    if (all.count === 0) this.offer(['Close', () => this.dialog.close()]);
    else this.offer([this.plan.verb + ' ' + all.count, () => void this.run()], ['Cancel', () => this.dialog.close()]);
  }

  stop() {
    this.isStopping = true;
    this.offer();
    this.tell('Stopping after the current portion, which may take 20 seconds…');
  }

  /**
   * Sends one request after the other, until nothing is left or it is stopped. A request that fails is left:
   * sent again, it does no event twice that has succeeded.
   * @template {{ next?: object }} T
   * @param {object | undefined} first
   * @param {(answer: T) => void} onAnswer
   */
  async portions(first, onAnswer) {
    this.left = first;
    while (this.left !== undefined && !this.isStopping) {
      /** @type {T} */
      const answer = await post(this.plan.path, this.left, this.plan.receiver);
      this.left = answer.next;
      onAnswer(answer);
    }
  }

  async run() {
    this.plan.fields?.remove();
    this.isStopping = false;
    this.isRunning = true;
    this.isChanged = true;
    addEventListener('beforeunload', askBeforeLeaving);
    this.progress.hidden = false;
    this.tell();
    this.offer(['Stop', () => this.stop()]);
    try {
      await this.portions(this.left, (/** @type {DeedEnd} */ answer) => this.add(answer));
      this.end();
    } catch (error) {
      this.end(error);
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

  /** @param {unknown} [error] */
  end(error) {
    this.isRunning = false;
    removeEventListener('beforeunload', askBeforeLeaving);
    const close = /** @type {[string, () => void]} */ (['Close', () => this.dialog.close()]);
    const isDone = this.left === undefined;
    const text = (isDone ? 'Done: ' : 'Stopped: ') + countText(this.results) + '.' + this.restText(isDone);
    const name = !isDone && this.plan.bodyOf?.().run;
    this.tell(...(error === undefined ? [] : [problemPart(error)]), element('p', '', text),
      ...(name ? [element('p', '', 'To go on another time, give the rerun the same name: ' + name)] : []));
    // A second press of Stop must not go on.
    if (isDone) this.offer(close);
    else this.offer(close, ['Go on', () => void this.run()]);
  }

  /** @param {boolean} isDone */
  restText(isDone) {
    const rest = this.total - this.results.length;
    if (rest <= 0) return isDone ? '' : ' Some may be left.';
    const gone = ' not tried: handled meanwhile, perhaps by a request whose answer was lost.';
    return ' ' + counted(rest, 'event') + (isDone ? gone : ' left.');
  }
}

/**
 * Asks before the page is left while a deed is done.
 * @param {BeforeUnloadEvent} event
 */
function askBeforeLeaving(event) {
  event.preventDefault();
}

/**
 * @param {DeedBody} choice
 * @param {string} receiver
 */
function replayDeed(choice, receiver) {
  new Deed({
    title: 'Replay dead letters', verb: 'Replay', path: 'dead-letters/replay', body: choice, receiver,
    warning: 'Handlers that have not finished run now, in this application. Those without a name run again.',
  }).open();
}

/**
 * @param {DeedBody} choice
 * @param {string} receiver
 */
function dropDeed(choice, receiver) {
  new Deed({
    title: 'Drop dead letters', verb: 'Drop', path: 'dead-letters/drop', body: choice, receiver,
    warning: 'The events are given up for good: no handler will ever get them.',
  }).open();
}
`;
