export { writeAtif } from './formats/writeAtif';
