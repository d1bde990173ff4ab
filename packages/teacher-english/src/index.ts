export { englishTeacher } from './englishTeacher.js';
