// Loaded into a server before it starts: nothing is classified, to measure what classification costs.
import { Classifier } from '../../server/failures/classifier.ts'
import { FirstLook } from '../../server/failures/first-look.ts'

Classifier.prototype.due = () => {}
FirstLook.prototype.at = () => {}
Classifier.prototype.start = () => {}
