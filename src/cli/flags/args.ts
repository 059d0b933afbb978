import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';

/** An argument that must be there. Commands read their standard input themselves, or not at all. */
export const requiredArg = (description: string) => Args.string({ description, required: true, ignoreStdin: true });

/** An argument that may be left away. */
export const optionalArg = (description: string) => Args.string({ description, ignoreStdin: true });

/** The help for a source, for each command that takes one. */
export const sourceHelp =
  'PRODUCT or PRODUCT@BUILD, or the path of a PAK, a game directory, an installed game or a CDN folder (PATH@BUILD).';

/** The argument of each command that reads one source. */
export const sourceArg = requiredArg(sourceHelp);

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

/** The arguments of each command that takes several builds of the store. */
export const buildArgs = {
  build: requiredArg(
    'PRODUCT@BUILD (version name, build id, build-name, or build config or its first digits). Several may be given.',
  ),
};

/** The flag for work that is only planned. */
export const dryRunFlag = Flags.boolean({ summary: 'Show what would be done, and do nothing.' });
