/*
 * MD5's compression function over eight messages at once, as WebAssembly: two sets of four 32-bit lanes. One message leaves most of a
 * processor idle, for each of its 64 steps waits for the one before; eight that have nothing to do with each other fill it.
 * The steps, their constants and rotations are those of RFC 1321, 3.4. The code is made here rather than kept as bytes, so that it can be read.
 *
 * The module imports its memory as `env.memory`, of which it uses
 *   0     state: for each set the words A, B, C, D of its four lanes, 16 bytes a word
 *   128   addresses: where each of the eight messages goes on, 4 bytes each
 *   160   the 64 constants, each four times, 16 bytes a constant
 * and exports `compress(blocks)`: takes so many 64-byte blocks, one or more, from each of the eight addresses into the state.
 */

/** Offset of the state: set s, word w, lane l at `64 × s + 16 × w + 4 × l`. */
export const stateOffset = 0;
/** Offset of the addresses of the messages. */
export const addressesOffset = 128;
/** Offset of the constants. */
export const constantsOffset = 160;
/** Bytes of the memory that belong to the module. */
export const reservedBytes = constantsOffset + 64 * 16;
/** Messages at a time. */
export const laneCount = 8;

const sets = [0, 1];
const lanes = [0, 1, 2, 3];
const rotations = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
];

/** The constants of the 64 steps, as they are to stand at {@link constantsOffset}. */
export function constants(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, i) => Math.floor(Math.abs(Math.sin((i >> 2) + 1)) * 2 ** 32));
}

type Code = readonly number[];

/** A number as LEB128, signed: as unsigned it is read right too as long as it is below 64. */
function leb(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const isLast = rest === (rest << 25) >> 25;
    bytes.push((rest & 0x7f) | (isLast ? 0 : 0x80));
    if (isLast) return bytes;
  }
}

function unsignedLeb(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsignedLeb(value >>> 7)];
}

const simd = (opcode: number): Code => [0xfd, ...unsignedLeb(opcode)];
const get = (local: number): Code => [0x20, ...unsignedLeb(local)];
const set = (local: number): Code => [0x21, ...unsignedLeb(local)];
const tee = (local: number): Code => [0x22, ...unsignedLeb(local)];
const number = (value: number): Code => [0x41, ...leb(value)];
const alignment = 4;
const load = (offset: number): Code => [...simd(0x00), alignment, ...unsignedLeb(offset)];
const store = (offset: number): Code => [...simd(0x0b), alignment, ...unsignedLeb(offset)];
const loadNumber = (offset: number): Code => [0x28, 2, ...unsignedLeb(offset)];
/** Takes four of the eight 32-bit words of two vectors. */
const pick = (...words: number[]): Code => [
  ...simd(0x0d),
  ...words.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)),
];
const [not, and, andNot, or, xor] = [0x4d, 0x4e, 0x4f, 0x50, 0x51].map(simd) as [Code, Code, Code, Code, Code];
const [shiftLeft, shiftRight, add] = [0xab, 0xad, 0xae].map(simd) as [Code, Code, Code];
const [addNumber, end, loop, branchIf] = [[0x6a], [0x0b], [0x03, 0x40], [0x0d]] as [Code, Code, Code, Code];
const vectorType = 0x7b;
const numberType = 0x7f;

/** Locals: the blocks that are left, the address of each message, then for each set the state, what it was before the block, the 16 words of
 * the block, and four for moves. */
const blocks = 0;
const firstPointer = 1;
function localsOf(index: number) {
  const first = firstPointer + laneCount + index * 28;
  return { pointers: firstPointer + 4 * index, state: first, before: first + 4, words: first + 8, spare: first + 24 };
}

type Locals = ReturnType<typeof localsOf>;

/** Turns 64 bytes of each of four messages into 16 vectors: the same word of the four. */
function loadBlock({ pointers, words, spare }: Locals): Code {
  return [0, 4, 8, 12].flatMap((first) => {
    const [a, b, c, d] = lanes.map((lane) => words + first + lane) as [number, number, number, number];
    const [low, high, low2, high2] = lanes.map((lane) => spare + lane) as [number, number, number, number];
    const loads = lanes.flatMap((lane) => [get(pointers + lane), load(4 * first), set(words + first + lane)]);
    const turn = [
      [get(a), get(b), pick(0, 4, 1, 5), set(low), get(a), get(b), pick(2, 6, 3, 7), set(high)],
      [get(c), get(d), pick(0, 4, 1, 5), set(low2), get(c), get(d), pick(2, 6, 3, 7), set(high2)],
      [get(low), get(low2), pick(0, 1, 4, 5), set(a), get(low), get(low2), pick(2, 3, 6, 7), set(b)],
      [get(high), get(high2), pick(0, 1, 4, 5), set(c), get(high), get(high2), pick(2, 3, 6, 7), set(d)],
    ];
    return [loads, ...turn].flat(2);
  });
}

/** One of the 64 steps: a = b + rotate(a + f(b, c, d) + word + constant). What does not wait for the step before, b, comes first. */
function step(i: number, { state, words, spare }: Locals): Code {
  const [a, b, c, d] = lanes.map((word) => state + ((word + 64 - i) % 4)) as [number, number, number, number];
  const round = i >> 4;
  const word = [i, 5 * i + 1, 3 * i + 5, 7 * i][round]! % 16;
  const mixed = [
    [get(c), get(d), xor, get(b), and, get(d), xor, add],
    [get(c), get(d), andNot, add, get(b), get(d), and, add],
    [get(c), get(d), xor, get(b), xor, add],
    [get(d), not, get(b), or, get(c), xor, add],
  ][round]!;
  const turn = rotations[round]![i % 4]!;
  const sum = [get(a), get(words + word), add, number(0), load(constantsOffset + 16 * i), add];
  const rotation = [number(turn), shiftLeft, get(spare), number(32 - turn), shiftRight, or, get(b), add, set(a)];
  return [...sum, ...mixed, tee(spare), ...rotation].flat();
}

function compressBody(): Code {
  const locals = sets.map(localsOf);
  const words = [0, 1, 2, 3];
  const pointers = Array.from({ length: laneCount }, (_, lane) => lane);
  const stateWords = (each: (local: Locals, word: number, offset: number) => Code[]): Code =>
    locals.flatMap((local, i) => words.flatMap((word) => each(local, word, stateOffset + 64 * i + 16 * word))).flat();
  const again = [get(blocks), number(-1), addNumber, tee(blocks), branchIf, [0], end].flat();
  return [
    ...pointers.flatMap((lane) => [
      ...number(0),
      ...loadNumber(addressesOffset + 4 * lane),
      ...set(firstPointer + lane),
    ]),
    ...stateWords(({ state }, word, offset) => [number(0), load(offset), set(state + word)]),
    ...loop,
    ...locals.flatMap(loadBlock),
    ...stateWords(({ state, before }, word) => [get(state + word), set(before + word)]),
    // The sets take turns step by step, so that the processor has the one to do while it waits for the other.
    ...Array.from({ length: 64 }, (_, i) => locals.flatMap((local) => step(i, local))).flat(),
    ...stateWords(({ state, before }, word) => [get(state + word), get(before + word), add, set(state + word)]),
    ...pointers.flatMap((lane) => [get(firstPointer + lane), number(64), addNumber, set(firstPointer + lane)].flat()),
    ...again,
    ...stateWords(({ state }, word, offset) => [number(0), get(state + word), store(offset)]),
    ...end,
  ];
}

const magicAndVersion: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const sized = (content: Code): Code => [...unsignedLeb(content.length), ...content];
const section = (id: number, content: Code): Code => [id, ...sized(content)];
const text = (content: string): Code => sized([...content].map((letter) => letter.charCodeAt(0)));

/** The module, ready to be compiled. */
export function md5LanesModule(): Uint8Array<ArrayBuffer> {
  const locals = [2, laneCount, numberType, ...unsignedLeb(28 * sets.length), vectorType];
  return Uint8Array.from([
    ...magicAndVersion,
    ...section(1, [1, 0x60, 1, numberType, 0]),
    ...section(2, [1, ...text('env'), ...text('memory'), 0x02, 0x00, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('compress'), 0x00, 0]),
    ...section(10, [1, ...sized([...locals, ...compressBody()])]),
  ]);
}
