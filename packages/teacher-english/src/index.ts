export { bothTeachers } from './bothTeachers.js';
export { englishTeacher } from './englishTeacher.js';
