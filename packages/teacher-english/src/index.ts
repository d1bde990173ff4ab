export { englishAid } from './englishAid.js';
export { englishTeacher } from './englishTeacher.js';
