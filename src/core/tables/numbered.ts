/** Values that many have in common: each is kept once, by the number of those before it. */
export class Numbered<Value> {
  readonly values: Value[] = [];
  readonly #numbers = new Map<string, number>();

  /** The number of a value, which is added where it is new. Those are the same that are the same as JSON. */
  numberOf(value: Value): number {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.values.length);
    return this.values.push(value) - 1;
  }

  at(number: number): Value {
    return this.values[number]!;
  }
}
