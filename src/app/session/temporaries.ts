/* For whoever has to end the process where it stands. */
export { removeTemporaries } from '../../files/temporary.ts';
