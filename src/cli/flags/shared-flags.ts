import * as Flags from '@oclif/core/flags';

/** For a flag that may be given several times, one value each time. */
export const repeatable = { multiple: true, multipleNonGreedy: true } as const;

/** The flag for regular expressions of which one must be found in a name. */
export const regexFlag = Flags.string({
  summary: 'Only names in which it is found, whatever their case. Repeatable: one of them must be found.',
  helpValue: 'RE',
  ...repeatable,
});

/** The flag for the form in which a source has its files. */
export const rawFlag = Flags.boolean({ summary: 'The bytes as they are stored, where the source can give them.' });
